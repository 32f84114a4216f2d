// SIGTERM: not ready at once, running streams finish, what takes too long ends with an error; the exit code is 0.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { ask, chat, Running } from '../lib/http.ts';
import { configuration, finish, Rig, Simulator, until } from '../lib/rig.ts';

let simulator: Simulator;
const start = async (drain: string, announce = '3s') =>
  await Rig.start(
    configuration(
      [
        { name: 'sim-gpt', base_url: simulator.baseURL },
        { name: 'brief', upstream: 'sim-gpt+words=40+gap=50', base_url: simulator.baseURL },
        { name: 'long', upstream: 'sim-gpt+words=1000+gap=50', base_url: simulator.baseURL },
        { name: 'silent', upstream: 'sim-gpt+fault=stall_before_head', base_url: simulator.baseURL },
      ],
      { timers: { drain, drain_announce: announce } },
    ),
  );

before(async () => {
  simulator = await Simulator.start();
});
after(() => finish());

test('streams finish within the drain time, /readyz says 503 meanwhile, and new requests are told to go', async () => {
  const rig = await start('30s');
  assert.equal((await ask(`${rig.root}/readyz`)).status, 200);
  const streams = Array.from({ length: 20 }, () => new Running(rig.baseURL, 'brief', { stream: true }));
  await Promise.all(streams.map((stream) => stream.events(1)));
  rig.program.tellToStop();
  await until('not ready', async () => (await ask(`${rig.root}/readyz`)).status === 503, 2_000);
  assert.equal((await ask(`${rig.root}/healthz`)).status, 200);
  const late = await chat(rig.baseURL, 'sim-gpt');
  assert.equal(late.status, 200, 'requests are served while load balancers look away');
  assert.equal(late.headers.connection, 'close');
  await Promise.all(streams.map((stream) => stream.ended));
  for (const stream of streams) assert.ok(stream.done, stream.text.slice(-300));
  assert.equal(await rig.stop(), 0);
});

test('a stream that outlasts the drain time gets an error event and no [DONE]', async () => {
  const rig = await start('1s');
  const stream = new Running(rig.baseURL, 'long', { stream: true });
  const waiting = new Running(rig.baseURL, 'silent');
  await stream.events(2);
  await until('both run', async () => (await rig.metric('queqiao_requests_in_flight')) === 2);
  const began = performance.now();
  rig.program.tellToStop();
  await Promise.all([stream.ended, waiting.ended]);
  const took = performance.now() - began;
  assert.ok(took > 800 && took < 4_000, `${took} ms`);
  assert.equal(stream.end, 'complete', 'the body ends properly behind the error event');
  assert.ok(!stream.text.includes('[DONE]'));
  const last = stream.text.trimEnd().split('\n').at(-1)!;
  assert.equal(JSON.parse(last.replace(/^data: /, '')).error.code, 'gateway_shutting_down');
  assert.equal(waiting.status, 503, 'what had not begun gets a status');
  assert.equal(JSON.parse(waiting.text).error.code, 'gateway_shutting_down');
  assert.equal(await rig.stop(), 0);
});

test('a second SIGTERM cuts the drain short', async () => {
  const rig = await start('60s');
  const stream = new Running(rig.baseURL, 'long', { stream: true });
  await stream.events(2);
  rig.program.tellToStop();
  await rig.program.line(rig.program.stderr, /"msg":"draining"/);
  const began = performance.now();
  rig.program.tellToStop();
  await stream.ended;
  assert.ok(stream.text.includes('gateway_shutting_down'), stream.text.slice(-300));
  await rig.program.line(rig.program.stderr, /"msg":"stopped"/);
  assert.ok(performance.now() - began < 5_000);
  assert.equal(await rig.stop(), 0);
});

test('a gateway with nothing to do ends at once, idle keep-alive connections or not', async () => {
  const rig = await start('30s');
  const idle = connect(rig.port, '127.0.0.1');
  idle.write('GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n');
  const [answer] = await once(idle, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 200 /);
  const gone = once(idle, 'close');
  idle.resume();
  const began = performance.now();
  assert.equal(await rig.stop(), 0);
  await gone;
  assert.ok(performance.now() - began < 3_000);
});

test('an idle gateway that a load balancer watches shows 503 before it ends', async () => {
  const rig = await start('30s', '1s');
  assert.equal((await ask(`${rig.root}/readyz`)).status, 200);
  const began = performance.now();
  rig.program.tellToStop();
  await until('not ready', async () => (await ask(`${rig.root}/readyz`)).status === 503, 900);
  assert.equal(await rig.stop(), 0);
  assert.ok(performance.now() - began > 900, 'for as long as it is configured to');
});
