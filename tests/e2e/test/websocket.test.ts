// Chat over WebSocket with a browser's WebSocket (Node's own) and with raw sockets.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import { ask, chatBody } from '../lib/http.ts';
import { configuration, finish, pause, Rig, Simulator, until } from '../lib/rig.ts';
import { clientKey, heard } from '../lib/secrets.ts';
import { Certificates } from '../lib/tls.ts';

let simulator: Simulator;
let rig: Rig;
before(async () => {
  simulator = await Simulator.start();
  rig = await Rig.start(
    configuration([
      { name: 'sim-gpt', base_url: simulator.baseURL },
      { name: 'paced', upstream: 'sim-gpt+words=40+gap=50', base_url: simulator.baseURL },
    ]),
  );
});
const certificates = new Certificates();
after(() => finish(certificates));

const protocols = ['chat-completions', `openai-insecure-api-key.${clientKey}`];
const path = '/v1/chat/completions (websocket)';

// One browser's socket, and what came of it.
class Browser {
  readonly socket: WebSocket;
  readonly messages: string[] = [];
  readonly closed: Promise<{ code: number; reason: string; wasClean: boolean }>;

  constructor(root: string, offered: string[]) {
    this.socket = new WebSocket(`${root.replace('http', 'ws')}/v1/chat/completions`, offered);
    this.socket.onmessage = ({ data }) => {
      assert.equal(typeof data, 'string');
      if (data.startsWith('{"error"')) heard('an error', data);  // answers echo the question
      this.messages.push(data);
    };
    this.closed = new Promise((done) => (this.socket.onclose = ({ code, reason, wasClean }) => done({ code, reason, wasClean })));
  }
  static async open(root: string, offered: string[] = protocols): Promise<Browser> {
    const browser = new Browser(root, offered);
    await new Promise<void>((done, failed) => {
      browser.socket.onopen = () => done();
      browser.socket.onerror = (event) => failed(new Error(`it does not open: ${(event as ErrorEvent).message}`));
    });
    return browser;
  }
  async has(what: string, seen: () => boolean): Promise<void> {
    await until(what, seen, 10_000);
  }
  done(count = 1): boolean {
    return this.messages.filter((message) => message === '[DONE]').length === count;
  }
}

test('a browser streams, asks for a whole answer and hears an error on one connection', async () => {
  const browser = await Browser.open(rig.root);
  assert.equal(browser.socket.protocol, 'chat-completions');
  assert.equal(browser.socket.extensions, '', 'it has offered permessage-deflate');
  browser.socket.send(chatBody('sim-gpt', { stream: true }));
  await browser.has('the stream is whole', () => browser.done());
  const chunks = browser.messages.slice(0, -1).map((message) => JSON.parse(message));
  assert.ok(chunks.length > 2);
  assert.ok(chunks.every((chunk) => chunk.object === 'chat.completion.chunk'));
  assert.ok(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('').length > 10);

  browser.messages.length = 0;
  browser.socket.send(chatBody('sim-gpt'));
  browser.socket.send(chatBody('no-such-model'));
  await browser.has('both are answered', () => browser.messages.length === 2);
  assert.equal(JSON.parse(browser.messages[0]).object, 'chat.completion');
  assert.equal(JSON.parse(browser.messages[1]).error.code, 'model_not_found');

  browser.socket.close(1000, 'enough');
  assert.deepEqual(await browser.closed, { code: 1000, reason: '', wasClean: true });
  await until('all three are in the log', () => rig.logged('request').filter((line) => line.path === path).length === 3, 2_000);
});

test('who closes inside a stream has left', async () => {
  await simulator.reset();
  const browser = await Browser.open(rig.root);
  browser.socket.send(chatBody('paced', { stream: true }));
  await browser.has('it flows', () => browser.messages.length > 3);
  browser.socket.close();
  assert.equal((await browser.closed).wasClean, true);
  await until(
    'it is in the log',
    () => rig.logged('request').some((line) => line.path === path && line.outcome === 'client_gone'),
    2_000,
  );
  assert.equal(await rig.metric('queqiao_requests_in_flight'), 0);
  const { text } = await ask(`${rig.root}/metrics`);
  assert.match(text, /^queqiao_requests_total\{[^}]*outcome="client_gone"[^}]*\} 1$/m);
  await until('the provider has lost its caller', async () => (await simulator.stats()).requests.aborted === 1, 2_000);
});

test('a prompt of many frames, and twenty browsers at once', async () => {
  const browsers = await Promise.all(Array.from({ length: 20 }, () => Browser.open(rig.root)));
  for (const browser of browsers) {
    browser.socket.send(
      JSON.stringify({ model: 'sim-gpt', stream: true, messages: [{ role: 'user', content: 'é€🌉'.repeat(100_000) }] }),
    );
  }
  await Promise.all(browsers.map((browser) => browser.has('it is answered', () => browser.done())));
  for (const browser of browsers) browser.socket.close();
  for (const browser of browsers) assert.equal((await browser.closed).wasClean, true);
});

test('a wrong key does not open', async () => {
  for (const offered of [[], ['chat-completions'], ['chat-completions', 'openai-insecure-api-key.sk-wrong']]) {
    await assert.rejects(Browser.open(rig.root, offered), /does not open/);
  }
});

// --- raw ---

function frame(opcode: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  assert.ok(bytes.length < 65_536);
  const mask = randomBytes(4);
  const head =
    bytes.length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | bytes.length])
      : Buffer.from([0x80 | opcode, 0x80 | 126, bytes.length >> 8, bytes.length & 0xff]);
  return Buffer.concat([head, mask, bytes.map((byte, i) => byte ^ mask[i % 4])]);
}

interface Raw {
  socket: Socket;
  said: () => Buffer;
  ended: Promise<unknown>;
}

async function raw(port: number, behind: Buffer = Buffer.alloc(0), ca?: string): Promise<Raw> {
  const where = { port, host: '127.0.0.1', allowHalfOpen: true };
  const socket = ca === undefined ? connect(where) : tls.connect({ ...where, ca });
  let said = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (data) => (said = Buffer.concat([said, data])));
  const ended = once(socket, 'end');
  await once(socket, ca === undefined ? 'connect' : 'secureConnect');
  const head =
    `GET /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${clientKey}\r\nUpgrade: websocket\r\n` +
    'Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  socket.write(Buffer.concat([Buffer.from(head), behind]));
  await until('the upgrade is answered', () => said.includes('\r\n\r\n'), 2_000);
  assert.match(said.toString('latin1'), /^HTTP\/1\.1 101 [^]*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
  return { socket, said: () => said.subarray(said.indexOf('\r\n\r\n') + 4), ended };
}

test('the key may come as a header, and a message with the head', async () => {
  const { socket, said } = await raw(rig.port, frame(1, chatBody('sim-gpt', { stream: true })));
  await until('it is answered', () => said().subarray(-6).toString() === '[DONE]', 5_000);
  assert.deepEqual(said().subarray(-8, -6), Buffer.from([0x81, 6]), 'a whole, unmasked text frame');
  socket.write(frame(9, 'ping'));
  await until('the ping is answered', () => said().subarray(-6).equals(Buffer.from('\x8a\x04ping', 'latin1')), 2_000);
  socket.destroy();
});

test('who breaks the rules hears why, and the connection ends', async () => {
  for (const [bytes, code] of [
    [Buffer.from('\x81\x02{}', 'latin1'), 1002],
    [frame(2, 'binary'), 1003],
    [frame(1, Buffer.from([0xff])), 1007],
    [Buffer.concat([Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]), Buffer.alloc(4)]), 1009],
  ] as [Buffer, number][]) {
    const { socket, said, ended } = await raw(rig.port, bytes);
    await ended;
    assert.equal(said()[0], 0x88);
    assert.equal(said().readUInt16BE(2), code);
    socket.destroy();
  }
});

test('over TLS both sides may speak at once', async () => {
  const { certificate, key } = certificates.signed('listener', 'DNS:localhost,IP:127.0.0.1');
  const secure = await Rig.start(
    configuration([{ name: 'flood', upstream: 'sim-gpt+words=20000', base_url: simulator.baseURL }], {
      listeners: [{ address: '127.0.0.1:0', serve: ['api', 'metrics'], tls: { certificate, key } }],
    }),
  );
  const { socket, said, ended } = await raw(secure.port, frame(1, chatBody('flood', { stream: true })), certificates.ca);
  for (let i = 0; i < 50; i += 1) {
    socket.write(frame(9, `ping ${i}`.padEnd(100)));
    await pause(2);
    if (i % 10 === 0) socket.pause();
    if (i % 10 === 5) socket.resume();
  }
  socket.resume();
  await until('the last ping is answered', () => said().includes('ping 49'), 10_000);
  await until('the stream is whole', () => said().includes('[DONE]'), 20_000);
  socket.write(frame(8, Buffer.from([3, 0xe8])));
  await ended;
  assert.deepEqual(said().subarray(-4), Buffer.from([0x88, 2, 3, 0xe8]));
  socket.destroy();
});

test('who reads nothing holds the provider back and is cut', async () => {
  const config = configuration([{ name: 'flood', upstream: 'sim-gpt+words=200000', base_url: simulator.baseURL }], {
    timers: { client_write_stall: '2s' },
  });
  const stalling = await Rig.start(config);
  const { socket } = await raw(stalling.port);
  socket.pause();
  const before = stalling.residentKiB();
  socket.write(frame(1, chatBody('flood', { stream: true })));
  await until(
    'it is in the log',
    () => stalling.logged('request').some((line) => line.path === path && line.error === 'client_stalled'),
    15_000,
    [stalling.pid],
  );
  assert.ok(stalling.residentKiB() - before < 20_000, `${stalling.residentKiB() - before} KiB more`);
  socket.destroy();
});

test('a key that is withdrawn is refused with the next message', async () => {
  const config = configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }]);
  const reloading = await Rig.start(config);
  const browser = await Browser.open(reloading.root);
  browser.socket.send(chatBody('sim-gpt'));
  await browser.has('it is answered', () => browser.messages.length === 1);
  reloading.replaceFile({ ...config, keys: [{ ...(config.keys as Record<string, string>[])[0], hash: `hmac-sha256:${'0'.repeat(64)}` }] });
  process.kill(reloading.pid, 'SIGHUP');
  await pause(500);
  browser.socket.send(chatBody('sim-gpt'));
  await browser.has('it is refused', () => browser.messages.length === 2);
  assert.equal(JSON.parse(browser.messages[1]).error.code, 'invalid_api_key');
  assert.equal((await browser.closed).code, 1008);
});

test('SIGTERM: the running answer ends, then 1001', async () => {
  const ending = await Rig.start(configuration([{ name: 'paced', upstream: 'sim-gpt+words=40+gap=50', base_url: simulator.baseURL }]));
  const [idle, busy] = [await Browser.open(ending.root), await Browser.open(ending.root)];
  busy.socket.send(chatBody('paced', { stream: true }));
  await busy.has('it flows', () => busy.messages.length > 3);
  process.kill(ending.pid, 'SIGTERM');
  assert.equal((await idle.closed).code, 1001);
  assert.equal((await busy.closed).code, 1001);
  assert.ok(busy.done(), 'the answer is whole');
});
