// Realtime with the official SDK, which speaks TLS only, a browser's WebSocket, `ws`, and providers that break off.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import WebSocketOfWs, { WebSocketServer, type WebSocket as Socket } from 'ws';
import { configuration, finish, pause, Rig, Simulator, until, type Target } from '../lib/rig.ts';
import { clientKey, heard, promptCanary, upstreamKey } from '../lib/secrets.ts';
import { Certificates } from '../lib/tls.ts';

const certificates = new Certificates();
const { certificate, key } = certificates.signed('listener', 'DNS:localhost,IP:127.0.0.1');

// A gateway with two listeners: a plain one, at which the rig asks, and one with TLS.
async function start(targets: Target[]): Promise<{ rig: Rig; client: OpenAI }> {
  const rig = await Rig.start(
    configuration(targets, {
      listeners: [
        { address: '127.0.0.1:0', serve: ['api', 'metrics'] },
        { address: '127.0.0.1:0', tls: { certificate, key } },
      ],
    }),
  );
  await until('both listen', () => rig.logged('listening').length === 2);
  rig.scheme = 'http';
  const port = rig.logged('listening')[1].address.split(':')[1];
  return { rig, client: new OpenAI({ baseURL: `https://localhost:${port}/v1`, apiKey: clientKey, maxRetries: 0 }) };
}

let simulator: Simulator;
let rig: Rig;
let client: OpenAI;
before(async () => {
  simulator = await Simulator.start();
  ({ rig, client } = await start([
    { name: 'voice', upstream: 'sim-gpt', base_url: simulator.baseURL },
    { name: 'paced', upstream: 'sim-gpt+words=40+gap=50', base_url: simulator.baseURL },
    { name: 'lost', upstream: 'sim-gpt+fault=reset_mid_body', base_url: simulator.baseURL },
    { name: 'refused', upstream: 'sim-gpt+fault=401', base_url: simulator.baseURL },
    { name: 'busy', upstream: 'sim-gpt+fault=429', base_url: simulator.baseURL },
    { name: 'backed', upstream: 'sim-gpt+fault=500', base_url: simulator.baseURL, fallback: 'voice' },
  ]));
});

const servers: Server[] = [];
after(() => finish({ stop: async () => servers.forEach((server) => server.close()) }, certificates));

// One connection of the SDK, and what came of it.
class Session {
  readonly realtime: OpenAIRealtimeWS;
  readonly events: any[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(model: string, of = client) {
    this.realtime = new OpenAIRealtimeWS({ model, options: { ca: certificates.ca } }, of);
    this.realtime.on('event', (event) => {
      heard('an event', JSON.stringify(event).replaceAll(promptCanary, ''));
      this.events.push(event);
    });
    this.realtime.on('error', () => {});
    this.closed = new Promise((done) =>
      this.realtime.socket.on('close', (code, reason) => done({ code, reason: reason.toString() })),
    );
  }
  static async open(model: string, of = client): Promise<Session> {
    const session = new Session(model, of);
    await session.has('session.created');
    return session;
  }
  of(type: string): any[] {
    return this.events.filter((event) => event.type === type);
  }
  async has(type: string, count = 1): Promise<any> {
    await until(`${count} ${type}`, () => this.of(type).length >= count, 10_000);
    return this.of(type)[count - 1];
  }
  say(text: string): void {
    this.realtime.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
  }
}

test('the SDK talks, and each response is in the log and the metrics', async () => {
  const tokensBefore = await rig.metric('queqiao_tokens_total');
  const session = await Session.open('voice');
  assert.equal(session.of('session.created')[0].session.model, 'voice', 'the name here');
  session.realtime.send({ type: 'session.update', session: { type: 'realtime', model: 'voice', output_modalities: ['text'] } });
  assert.equal((await session.has('session.updated')).session.model, 'voice');
  session.say(`${promptCanary} is it deep?`);
  session.realtime.send({ type: 'response.create' });
  const text = await session.has('response.done');
  assert.ok(session.of('response.output_text.delta').length > 3);
  assert.equal(text.response.status, 'completed');

  session.realtime.send({ type: 'response.create', response: { output_modalities: ['audio'] } });
  await session.has('response.done', 2);
  assert.ok(session.of('response.output_audio.delta').length > 3);

  const used = session.of('response.done').reduce((sum, { response }) => sum + response.usage.total_tokens, 0);
  await until('both are in the log', () => rig.logged('response').length === 2, 2_000);
  const lines = rig.logged('response');
  const tokens = (line: any): number =>
    Object.entries(line).reduce((sum, [key, value]) => (key.startsWith('tokens_') ? sum + (value as number) : sum), 0);
  assert.equal(lines.reduce((sum, line) => sum + tokens(line), 0), used);
  assert.equal((await rig.metric('queqiao_tokens_total')) - tokensBefore, used, 'while it is open');
  assert.ok(lines[1].tokens_audio_output > 0);

  session.realtime.close({ code: 1000, reason: 'enough' });
  assert.equal((await session.closed).code, 1000);
  await until('the connection is in the log', () => rig.logged('request').length === 1, 3_000);
  const line = rig.logged('request')[0];
  assert.equal(line.endpoint, 'realtime');
  assert.equal(line.status, 101);
  assert.equal(line.outcome, 'ok');
  assert.equal(line.responses, 2);
  assert.equal(tokens(line), used);
  assert.equal(line.request_id, lines[0].request_id);
  assert.equal((await rig.metric('queqiao_tokens_total')) - tokensBefore, used, 'nothing is counted twice');
  assert.equal(await rig.metric('queqiao_realtime_responses_total'), 2);
});

test('a session of another model is refused with an error event', async () => {
  const session = await Session.open('voice');
  session.realtime.send({ type: 'session.update', event_id: 'mine', session: { type: 'realtime', model: 'gpt-realtime' } });
  const refused = await session.has('error');
  assert.equal(refused.error.type, 'invalid_request_error');
  assert.equal(refused.error.param, 'session.model');
  assert.equal(refused.error.event_id, 'mine');
  session.realtime.close();
  await session.closed;
});

test('a second target answers where the first refuses', async () => {
  const socket = new WebSocketOfWs(`${rig.root.replace('http', 'ws')}/v1/realtime?model=backed`, {
    headers: { authorization: `Bearer ${clientKey}` },
  });
  const opened = once(socket, 'open');
  const [answer] = await once(socket, 'upgrade');
  assert.match(answer.headers['x-queqiao-attempts'], /backed-first server_error \d+ms.*, voice success/);
  await opened;
  socket.close(1000);
  await once(socket, 'close');
});

test('what cannot be opened is an HTTP error in the shape of OpenAI', async () => {
  for (const [model, status, code] of [
    ['no-such-model', 404, 'model_not_found'],
    ['refused', 503, 'upstream_unavailable'],
    ['busy', 429, 'rate_limit_exceeded'],
  ] as const) {
    const socket = new WebSocketOfWs(`${rig.root.replace('http', 'ws')}/v1/realtime?model=${model}`, {
      headers: { authorization: `Bearer ${clientKey}` },
    });
    socket.on('error', () => {});
    const [, answer] = await once(socket, 'unexpected-response');
    let body = '';
    for await (const piece of answer) body += piece;
    heard('a refusal', body);
    assert.equal(answer.statusCode, status, body);
    assert.equal(JSON.parse(body).error.code, code);
    socket.terminate();
  }
});

test('a browser', async () => {
  const browser = new WebSocket(`${rig.root.replace('http', 'ws')}/v1/realtime?model=voice`, [
    'realtime',
    `openai-insecure-api-key.${clientKey}`,
  ]);
  const messages: any[] = [];
  browser.onmessage = ({ data }) => messages.push(JSON.parse(data));
  await new Promise((done) => (browser.onopen = done));
  assert.equal(browser.protocol, 'realtime');
  assert.equal(browser.extensions, '');
  browser.send(JSON.stringify({ type: 'response.create' }));
  await until('it is answered', () => messages.some(({ type }) => type === 'response.done'));
  const closed = new Promise<CloseEvent>((done) => (browser.onclose = done));
  browser.close(3001, 'mine');
  assert.equal((await closed).code, 3001);
});

test('a provider that is lost', async () => {
  const session = await Session.open('lost');
  session.realtime.send({ type: 'response.create' });
  const error = await session.has('error');
  assert.equal(error.error.code, 'upstream_reset');
  assert.equal((await session.closed).code, 1011);
  await until(
    'it is in the log',
    () => rig.logged('request').some((line) => line.model === 'lost' && line.outcome === 'interrupted'),
    3_000,
  );
  assert.equal(rig.logged('response').filter((line) => line.model === 'lost' && line.outcome === 'interrupted').length, 1);
});

test('who vanishes leaves no connection to the provider behind', async () => {
  const session = await Session.open('paced');
  session.realtime.send({ type: 'response.create' });
  await session.has('response.output_audio.delta', 3);
  const before = rig.socketsTo(simulator.port);
  (session.realtime.socket as unknown as Socket).terminate();
  await until('it is gone', () => rig.socketsTo(simulator.port) === before - 1, 1_500, [rig.pid]);
  assert.equal(await rig.metric('queqiao_requests_in_flight'), 0);
});

test('what a provider says of its caller is not handed on', async () => {
  const server = createServer();
  servers.push(server);
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, asked) => {
    assert.equal(asked.headers.authorization, `Bearer ${upstreamKey}`);
    assert.equal(asked.url, '/v1/realtime?model=real');
    socket.send(JSON.stringify({ type: 'session.created', session: { model: 'real' } }));
    socket.send(JSON.stringify({ type: 'error', error: { type: 'x', message: `Bad key ${upstreamKey}` } }));
    setTimeout(() => socket.close(4004, `no more for ${upstreamKey}`), 100);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const other = await start([{ name: 'told', upstream: 'real', base_url: `http://127.0.0.1:${port}/v1` }]);
  const session = await Session.open('told', other.client);
  await session.has('error');
  const { code, reason } = await session.closed;
  assert.equal(code, 4004);
  heard('a reason', reason);
  assert.ok(reason.startsWith('no more for '));
});

test('messages of megabytes, both ways at once, arrive in order', async () => {
  const server = createServer();
  servers.push(server);
  new WebSocketServer({ server, maxPayload: 32 << 20 }).on('connection', (socket) => {
    socket.on('message', (data, binary) => socket.send(data, { binary }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const other = await Rig.start(configuration([{ name: 'echo', base_url: `http://127.0.0.1:${port}/v1` }]));
  const socket = new WebSocketOfWs(`${other.root.replace('http', 'ws')}/v1/realtime?model=echo`, {
    headers: { authorization: `Bearer ${clientKey}` },
    perMessageDeflate: true,
  });
  await once(socket, 'open');
  let came = 0;
  socket.on('message', (data) => {
    const { n, pad } = JSON.parse(data.toString());
    assert.equal(n, came++);
    assert.equal(pad.length, n % 2 === 0 ? 4_000_000 : 10);
  });
  for (let n = 0; n < 20; n += 1) socket.send(JSON.stringify({ type: 'x', n, pad: 'é'.repeat(n % 2 === 0 ? 4_000_000 : 10) }));
  await until('all are back', () => came === 20, 20_000, [other.pid]);
  socket.close(1000);
  const [code] = await once(socket, 'close');
  assert.equal(code, 1000);
  assert.equal(await other.metric('queqiao_bodies_in_flight_bytes'), 0);
});

test('a key that is withdrawn is closed upon with the next message', async () => {
  const targets = [{ name: 'voice', upstream: 'sim-gpt', base_url: simulator.baseURL }];
  const config = configuration(targets);
  const reloading = await Rig.start(config);
  const socket = new WebSocketOfWs(`${reloading.root.replace('http', 'ws')}/v1/realtime?model=voice`, {
    headers: { authorization: `Bearer ${clientKey}` },
  });
  await once(socket, 'open');
  reloading.replaceFile({ ...config, keys: [{ ...(config.keys as Record<string, string>[])[0], hash: `hmac-sha256:${'0'.repeat(64)}` }] });
  process.kill(reloading.pid, 'SIGHUP');
  await pause(500);
  socket.send(JSON.stringify({ type: 'response.create' }));
  const [code] = await once(socket, 'close');
  assert.equal(code, 1008);
});

test('SIGTERM: the running response ends, then 1001', async () => {
  const { rig: ending, client: of } = await start([
    { name: 'paced', upstream: 'sim-gpt+words=20+gap=50', base_url: simulator.baseURL },
  ]);
  const [idle, busy] = [await Session.open('paced', of), await Session.open('paced', of)];
  busy.realtime.send({ type: 'response.create' });
  await busy.has('response.output_audio.delta');
  process.kill(ending.pid, 'SIGTERM');
  assert.equal((await idle.closed).code, 1001);
  assert.equal((await busy.closed).code, 1001);
  assert.equal(busy.of('response.done').length, 1);
  await pause(50);
});
