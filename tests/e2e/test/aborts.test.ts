// Thousands of streams that their clients leave: sockets, tasks and memory return to what they were.
// QQ_LONG=1 takes ten times as many.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chat, Running } from '../lib/http.ts';
import { configuration, finish, Rig, Simulator, until } from '../lib/rig.ts';

const total = process.env.QQ_LONG === '1' ? 10_000 : 1_000;
const together = 50;
// A guess above what an allocator's arenas and the log's buffers do: a leak of one buffer a stream is far above.
const noiseKiB = 4 * 1024;

let simulator: Simulator;
let rig: Rig;
before(async () => {
  simulator = await Simulator.start(['--keep-requests', '0'].filter(() => process.env.QQ_LONG === '1'));
  rig = await Rig.start(
    configuration([
      { name: 'sim-gpt', base_url: simulator.baseURL },
      { name: 'streaming', upstream: 'sim-gpt+words=2000+gap=5', base_url: simulator.baseURL },
      { name: 'fast', upstream: 'sim-gpt+words=20000', base_url: simulator.baseURL },
    ]),
  );
});
after(() => finish());

// Leaves after its first events, at a place that differs from stream to stream.
async function abandon(index: number): Promise<void> {
  const stream = new Running(rig.baseURL, index % 5 === 0 ? 'fast' : 'streaming', { stream: true });
  await stream.events(index % 7);
  stream.leave(index % 2 === 0 ? 'RST' : 'FIN');
  if (index % 2 !== 0) await stream.ended;
  stream.close();
}
async function abandonMany(count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await abandon(next++);
  };
  await Promise.all(Array.from({ length: together }, worker));
}
async function settled(): Promise<void> {
  await until('nothing is in flight', async () => (await rig.metric('queqiao_requests_in_flight')) === 0, 2_000);
  await until('no connection to a provider is open', async () => (await rig.metric('queqiao_upstream_connections_open')) === 0, 2_000);
  // The connection that asks is the one.
  await until('no client is there', async () => (await rig.metric('queqiao_connections_open')) === 1, 2_000);
}

test(`${total} abandoned streams leave no socket, no task and no memory behind`, async () => {
  await settled();
  const descriptors = rig.descriptors();
  await abandonMany(total / 2);
  await settled();
  const half = rig.residentKiB();
  await abandonMany(total / 2);
  await settled();
  const whole = rig.residentKiB();
  await until('all descriptors are back', () => rig.descriptors() <= descriptors, 2_000);
  assert.ok(whole - half < noiseKiB, `${half} KiB after half of them, ${whole} KiB after all`);
  const stats = await simulator.stats();
  assert.equal(stats.connections.live, 0);
  assert.equal(stats.requests.in_flight, 0);
  assert.ok(stats.requests.total >= total);
  await until('every stream has its line in the log', () => rig.logged('request').length >= total, 5_000);
  const lines = rig.logged('request');
  assert.equal(lines.length, total);
  const gone = lines.filter((line) => line.outcome === 'client_gone').length;
  assert.ok(gone > total * 0.95, `${gone} were left by their clients; a fast one may have been whole`);
  assert.equal((await chat(rig.baseURL, 'sim-gpt')).status, 200);
});
