// At the edge of what a process or a request may take, and where providers may not be.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { ask, chat, chatBody, Running } from '../lib/http.ts';
import { configuration, finish, pause, Rig, Simulator, until } from '../lib/rig.ts';
import { clientKey, heard } from '../lib/secrets.ts';

after(() => finish());
const authorized = { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' };

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}
// What a new connection is told without having asked; '' if nothing within a moment.
async function greeting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('error', () => {});
  socket.on('data', (data) => (said += data));
  await Promise.race([once(socket, 'close').catch(() => {}), pause(1_000)]);
  socket.destroy();
  return said;
}

test('64 descriptors: who comes beyond gets a 503 with Retry-After, running streams go on, and it recovers', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(
    configuration([
      { name: 'sim-gpt', base_url: simulator.baseURL },
      { name: 'paced', upstream: 'sim-gpt+words=120+gap=50', base_url: simulator.baseURL },
    ]),
    { descriptors: 64 },
  );
  const streams = Array.from({ length: 5 }, () => new Running(rig.baseURL, 'paced', { stream: true }));
  await Promise.all(streams.map((stream) => stream.events(1)));
  const idle: Socket[] = [];
  for (let i = 0; i < 80; i += 1) idle.push(await opened(rig.port));
  await pause(300);
  const refused = await greeting(rig.port);
  assert.match(refused, /^HTTP\/1\.1 503 /);
  assert.match(refused, /\r\nretry-after: \d+\r\n/i);
  const body = refused.slice(refused.indexOf('\r\n\r\n') + 4);
  assert.equal(Number(refused.match(/content-length: (\d+)/i)![1]), body.length);
  assert.ok(JSON.parse(body).error.message);
  assert.equal(streams.filter((stream) => stream.end).length, 0, 'the streams live');
  for (const socket of idle) socket.destroy();
  await until('it serves again', async () => (await chat(rig.baseURL, 'sim-gpt').catch(() => undefined))?.status === 200);
  await Promise.all(streams.map((stream) => stream.ended));
  for (const stream of streams) assert.ok(stream.done, stream.text.slice(-300));
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('no descriptor is left for the provider: an error of the gateway, and the provider is not blamed for it', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(
    configuration([{ name: 'sim-gpt', upstream: 'sim-gpt+words=5+fault=http10', base_url: simulator.baseURL }], { workers: 1 }),
    { descriptors: 64 },
  );
  // One that is served first, with a connection that stays: it needs no further descriptor than the provider's.
  const kept = await opened(rig.port);
  let said = '';
  kept.on('data', (data) => (said += data));
  const send = async () => {
    said = '';
    const body = chatBody('sim-gpt');
    kept.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${clientKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until('an answer', () => said.includes('\r\n\r\n'));
    await pause(50);
    return Number(said.match(/^HTTP\/1\.1 (\d+)/)![1]);
  };
  assert.equal(await send(), 200);
  const idle: Socket[] = [];
  for (let i = 0; i < 70; i += 1) idle.push(await opened(rig.port));
  await until('none is left', () => rig.descriptors() >= 63);
  for (let i = 0; i < 8; i += 1) {
    assert.equal(await send(), 503);
    heard('an error body', said);
    assert.match(said, /\r\nretry-after: \d+\r\n/i);
    assert.match(said, /gateway_saturated/);
  }
  for (const socket of idle) socket.destroy();
  await until('descriptors are back', () => rig.descriptors() < 50);
  assert.equal(await send(), 200, 'no breaker has opened over it');
  kept.destroy();
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('connections_max: the one above it is turned away, and there is room again when one goes', async () => {
  const simulator = await Simulator.start();
  for (const workers of [1, 2]) {
    const rig = await Rig.start(
      configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }], { workers, limits: { connections_max: 4 } }),
    );
    const sockets: Socket[] = [];
    const closed = () => sockets.filter((socket) => socket.closed).length;
    const said: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      const socket = await opened(rig.port);
      socket.on('data', (data) => said.push(String(data)));
      sockets.push(socket);
    }
    await until('the surplus is closed', () => closed() === 8, 3_000);
    assert.equal(said.length, 8);
    for (const text of said) assert.match(text, /^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n[^]*gateway_saturated/);
    const stays = sockets.filter((socket) => !socket.closed);
    await pause(50);
    assert.equal(stays.filter((socket) => !socket.closed).length, 4, 'the others stay');
    for (const socket of stays) socket.destroy();
    await until('served again', async () => (await chat(rig.baseURL, 'sim-gpt').catch(() => undefined))?.status === 200);
    assert.ok((await rig.metric('queqiao_connections_refused_total')) >= 8);
    assert.equal(await rig.stop(), 0);
  }
  await simulator.stop();
});

test('a limit on connections below the number of workers is still a limit', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(
    configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }], { workers: 4, limits: { connections_max: 2 } }),
  );
  const sockets: Socket[] = [];
  for (let i = 0; i < 20; i += 1) sockets.push((await opened(rig.port)).resume());
  await until('the surplus is closed', () => sockets.filter((socket) => socket.closed).length >= 16, 3_000);
  for (const socket of sockets) socket.destroy();
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('heads that come in pieces from many clients at once never mix', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }], { workers: 1 }));
  const clients = await Promise.all(Array.from({ length: 100 }, () => opened(rig.port)));
  const said = clients.map(() => '');
  clients.forEach((client, index) => client.on('data', (data) => (said[index] += data)));
  const pieces = (index: number) => [
    `GET /v1/models/name-${index} HTTP/1.1\r\nhost: here\r\n`,
    `x-filler: ${'f'.repeat(index)}\r\nauthoriz`,
    `ation: Bearer ${clientKey}\r`,
    '\nconnection: close\r\n\r\n',
  ];
  for (let part = 0; part < 4; part += 1) {
    clients.forEach((client, index) => client.write(pieces(index)[part]));
    await pause(60);
  }
  await until('all are answered', () => clients.every((client) => client.closed));
  for (const [index, text] of said.entries()) {
    assert.match(text, /^HTTP\/1\.1 404 /);
    assert.ok(text.includes(`\`name-${index}\``), text);
  }
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

const mebibyte = 1 << 20;

test('a body of 64 MiB and one byte is a 413, announced or not, and costs the provider nothing', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }]));
  const announced = await opened(rig.port);
  let said = '';
  announced.on('data', (data) => (said += data));
  announced.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${clientKey}\r\n` +
      `content-length: ${64 * mebibyte + 1}\r\n\r\n`,
  );
  await until('an answer to the head alone', () => said.includes('\r\n\r\n'));
  assert.match(said, /^HTTP\/1\.1 413 /);
  announced.destroy();

  const chunked = await opened(rig.port);
  said = '';
  chunked.on('data', (data) => (said += data));
  chunked.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${clientKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(mebibyte, 0x20), Buffer.from('\r\n')]);
  for (let i = 0; i < 65 && !said; i += 1) {
    if (!chunked.write(chunk)) await until('it is taken or refused', () => !chunked.writableNeedDrain || said || chunked.closed);
  }
  await until('an answer', () => said.includes('\r\n\r\n'));
  assert.match(said, /^HTTP\/1\.1 413 /);
  assert.match(said, /request_too_large/);
  chunked.destroy();
  assert.equal((await simulator.stats()).connections.accepted, 0);
  await until('its memory is given back', async () => (await rig.metric('queqiao_bodies_in_flight_bytes')) === 0);
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('a body of 50 MB arrives at the provider byte for byte', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }]));
  const image = Buffer.alloc(37_000_000, 'queqiao').toString('base64');
  const body = JSON.stringify({
    model: 'sim-gpt',
    messages: [
      { role: 'user', content: [{ type: 'text', text: '看图' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }] },
    ],
  });
  const hash = createHash('sha256').update(body).digest('hex');
  const got = await ask(`${rig.baseURL}/chat/completions`, { body, headers: authorized });
  assert.equal(got.status, 200, got.text.slice(0, 500));
  const { requests } = JSON.parse((await ask(`${simulator.root}/sim/requests`)).text);
  assert.equal(requests.at(-1).body_bytes, Buffer.byteLength(body));
  assert.equal(requests.at(-1).body_sha256, hash);
  await until('it is in the log', () => rig.logged('request').length === 1);
  assert.ok(rig.program.stderr.every((line) => line.length <= 4_096), 'no line holds it');
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('answers that providers compress are decoded, and their usage is read as without', async () => {
  const simulator = await Simulator.start();
  const codings = ['none', 'gzip', 'deflate', 'br', 'zstd'];
  const rig = await Rig.start(
    configuration([
      ...codings.map((coding) => ({ name: coding, upstream: `sim-gpt+words=30+fault=${coding}`, base_url: simulator.baseURL })),
      { name: 'broken', upstream: 'sim-gpt+fault=broken_gzip', base_url: simulator.baseURL },
      { name: 'bomb', upstream: 'sim-gpt+fault=bomb', base_url: simulator.baseURL },
    ]),
  );
  // What differs is the name, which the simulator's ids depend on no more than on the model.
  const seen = async (coding: string) => {
    const whole = await chat(rig.baseURL, coding);
    assert.equal(whole.status, 200, whole.text);
    assert.equal(whole.headers['content-encoding'], undefined);
    const stream = new Running(rig.baseURL, coding, { stream: true, stream_options: { include_usage: true } });
    await stream.ended;
    assert.ok(stream.done, `${coding}: ${stream.text.slice(-200)}`);
    assert.equal(stream.headers['content-encoding'], undefined);
    await until('both are in the log', () => rig.logged('request').filter((line) => line.route === coding).length === 2);
    const tokens = rig
      .logged('request')
      .filter((line) => line.route === coding)
      .map((line) => [line.tokens_input_uncached, line.tokens_output_text]);
    return { choices: whole.json.choices, usage: whole.json.usage, content: stream.content(), tokens };
  };
  const plain = await seen('none');
  assert.ok(plain.tokens[0][0] > 0 && plain.tokens[0][1] === 30);
  for (const coding of codings.slice(1)) assert.deepEqual(await seen(coding), plain, coding);

  const broken = await chat(rig.baseURL, 'broken');
  assert.equal(broken.status, 502, broken.text);
  assert.equal(broken.json.error.code, 'upstream_decode_failed');
  const before = rig.residentKiB();
  const bomb = await chat(rig.baseURL, 'bomb');
  assert.equal(bomb.status, 502, bomb.text.slice(0, 300));
  assert.equal(bomb.json.error.code, 'upstream_decode_failed');
  assert.ok(rig.residentKiB() - before < 8 * 1024, 'a bomb does not unfold');
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('a provider at a private address is not connected to unless it was allowed', async () => {
  let accepted = 0;
  const trap = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  });
  trap.listen(0, '127.0.0.1');
  await once(trap, 'listening');
  const { port } = trap.address() as AddressInfo;
  const simulator = await Simulator.start();
  const spellings = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '127.1', '2130706433', '0x7f000001', '0.0.0.0', '[::1]'];
  const targets = spellings.map((host, index) => ({ name: `m${index}`, base_url: `http://${host}:${port}/v1`, private: false }));
  const rig = await Rig.start(
    configuration([
      ...targets,
      { name: 'saved', base_url: `http://127.0.0.1:${port}/v1`, private: false, fallback: 'allowed' },
      { name: 'allowed', upstream: 'sim-gpt', base_url: simulator.baseURL },
    ]),
  );
  for (const [index, host] of spellings.entries()) {
    for (const stream of [false, true]) {
      const got = await chat(rig.baseURL, `m${index}`, { more: { stream } });
      assert.ok(got.status === 502 || got.status === 503, `${host}: ${got.status} ${got.text}`);
      assert.match(got.json.error.code, /^upstream_(address_denied|dns)$/, `${host}: ${got.text}`);
    }
  }
  const saved = await chat(rig.baseURL, 'saved');
  assert.equal(saved.status, 200, saved.text);
  assert.match(String(saved.headers['x-queqiao-attempts']), /egress_denied/);
  assert.equal(accepted, 0, 'nothing was connected');
  trap.close();
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('a configuration without keys refuses everybody, and the log says so', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(configuration([{ name: 'sim-gpt', base_url: simulator.baseURL }], { keys: [] }));
  for (const key of [clientKey, 'anything']) {
    const { status, text } = await chat(rig.baseURL, 'sim-gpt', { key });
    assert.equal(status, 401);
    assert.equal(JSON.parse(text).error.code, 'invalid_api_key');
  }
  for (const path of ['models', 'models/sim-gpt']) assert.equal((await ask(`${rig.baseURL}/${path}`)).status, 401);
  assert.equal((await simulator.stats()).connections.accepted, 0);
  assert.equal(rig.logged('no client keys are configured: every request is refused').length, 1);
});
