// A configuration that changes under running streams cuts none of them; a bad one changes nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chat, Running } from '../lib/http.ts';
import { configuration, finish, hashOf, pause, Rig, Simulator, until, type Sections, type Target } from '../lib/rig.ts';

const otherKey = 'sk-canary-other-18c2';
let simulator: Simulator;
let rig: Rig;
let targets: Target[];

// A configuration that differs from all others in something that needs no restart.
let edition = 0;
function next(more: Sections = {}): Sections {
  edition += 1;
  return configuration(targets, { timers: { total: `${900 + edition}s` }, ...more });
}
const readAgain = () => rig.logged('configuration read again').length;

before(async () => {
  simulator = await Simulator.start();
  targets = [
    { name: 'sim-gpt', base_url: simulator.baseURL },
    { name: 'paced', upstream: 'sim-gpt+words=150+gap=100', base_url: simulator.baseURL },
  ];
  rig = await Rig.start(next());
});
after(() => finish());

test('200 streams across 20 reloads, by signal and by replaced file: none is cut', async () => {
  const expected = new Running(simulator.baseURL, 'sim-gpt+words=150', { stream: true });
  await expected.ended;
  assert.ok(expected.done);
  const streams = Array.from({ length: 200 }, () => new Running(rig.baseURL, 'paced', { stream: true }));
  await Promise.all(streams.map((stream) => stream.events(1)));
  const generation = await rig.metric('queqiao_config_generation');
  for (let i = 0; i < 20; i += 1) {
    const before = readAgain();
    if (i % 2 === 0) {
      rig.replaceFile(next());
    } else {
      // A signal of its own, before the watcher's quiet time is over; the watcher then finds nothing new.
      rig.writeFile(next());
      rig.program.child.kill('SIGHUP');
    }
    await until('the configuration is read again', () => readAgain() > before, 5_000);
  }
  assert.equal(streams.filter((stream) => stream.end).length, 0, 'every stream still ran at the last reload');
  const reloads = (await rig.metric('queqiao_config_generation')) - generation;
  assert.ok(reloads >= 20, `${reloads} generations`);
  await Promise.all(streams.map((stream) => stream.ended));
  for (const stream of streams) {
    assert.equal(stream.end, 'complete');
    assert.ok(stream.done, stream.text.slice(-300));
    assert.equal(stream.content(), expected.content());
  }
});

test('a bad file is refused with the place of its mistake, and the old configuration stays', async () => {
  const generation = await rig.metric('queqiao_config_generation');
  for (const [bad, says] of [
    ['workers: [', /queqiao\.yaml:\d+:\d+/],
    [JSON.stringify({ ...next(), timerz: {} }, null, 1), /queqiao\.yaml:\d+:\d+.*timerz.*timers/],
    ['', /queqiao\.yaml/],
  ] as const) {
    const refusals = () => rig.logged('configuration refused, the old one stays');
    const before = refusals().length;
    const read = readAgain();
    rig.replaceFile(bad);
    await until('it is refused', () => refusals().length > before, 5_000);
    assert.match(refusals().at(-1)!.problem, says);
    assert.equal(readAgain(), read, 'once is enough');
    assert.equal((await chat(rig.baseURL, 'sim-gpt')).status, 200);
  }
  assert.equal(await rig.metric('queqiao_config_generation'), generation);
});

test('a new model appears with the reload and a removed one goes, while its stream goes on', async () => {
  assert.equal((await chat(rig.baseURL, 'brand-new')).status, 404);
  const running = new Running(rig.baseURL, 'paced', { stream: true });
  await running.events(2);
  targets = [targets[0], { name: 'brand-new', upstream: 'sim-gpt+words=3', base_url: simulator.baseURL }];
  rig.replaceFile(next());
  await until('the new model answers', async () => (await chat(rig.baseURL, 'brand-new')).status === 200, 5_000);
  assert.equal((await chat(rig.baseURL, 'paced')).status, 404);
  const before = running.eventCount();
  await running.events(before + 3);
  running.leave('RST');
});

test('a key that was changed stops working for new requests; a stream that it began goes on', async () => {
  const keys = (second: string) => [
    { name: 'tests', hash: (configuration([]).keys as any)[0].hash },
    { name: 'other', hash: hashOf(second) },
  ];
  targets = [...targets, { name: 'paced', upstream: 'sim-gpt+words=40+gap=50', base_url: simulator.baseURL }];
  rig.replaceFile(next({ keys: keys(otherKey) }));
  const status = async (key: string) => (await chat(rig.baseURL, 'sim-gpt', { key })).status;
  await until('the key works', async () => (await status(otherKey)) === 200, 5_000);
  const running = new Running(rig.baseURL, 'paced', { stream: true }, { key: otherKey });
  await running.events(1);
  rig.replaceFile(next({ keys: keys('sk-canary-replacement-3320') }));
  await until('the old key is refused', async () => (await status(otherKey)) === 401, 5_000);
  assert.equal(await status('sk-canary-replacement-3320'), 200);
  await running.ended;
  assert.ok(running.done, 'the stream of the old key is whole');
});

test('a change that needs a restart is named and not made', async () => {
  const before = readAgain();
  rig.replaceFile(next({ workers: 1 }));
  await until('it is read', () => readAgain() > before, 5_000);
  await until('it is said', () =>
    rig.logged('configuration change').some(({ change }) => /workers.*needs a restart/.test(change)),
  );
  await pause(50);
  assert.equal((await chat(rig.baseURL, 'sim-gpt')).status, 200);
});
