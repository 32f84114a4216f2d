// A client that goes, by reset or FIN, takes its request with it: in every phase the connection to the provider
// is closed within a second, and nothing of the request stays behind.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { blackHole, mute, type Hole } from '../lib/holes.ts';
import { chat, chatBody, Running } from '../lib/http.ts';
import { configuration, finish, pause, Rig, Simulator, until } from '../lib/rig.ts';
import { clientKey } from '../lib/secrets.ts';

let simulator: Simulator;
let hole: Hole;
let silent: Hole & { accepted(): number };
let rig: Rig;

before(async () => {
  simulator = await Simulator.start();
  hole = await blackHole();
  silent = await mute();
  const simulated = (name: string, upstream: string) => ({ name, upstream, base_url: simulator.baseURL });
  // No timer may do what the client's going has to do.
  const timers = Object.fromEntries(
    ['connect', 'tls', 'send_progress', 'first_byte', 'first_content', 'event_gap', 'heartbeat'].map((name) => [name, '5m']),
  );
  rig = await Rig.start(
    configuration(
      [
        simulated('sim-gpt', 'sim-gpt'),
        { name: 'connect', base_url: `http://127.0.0.1:${hole.port}/v1` },
        { name: 'tls', base_url: `https://127.0.0.1:${silent.port}/v1` },
        { name: 'send', base_url: `http://127.0.0.1:${silent.port}/v1` },
        simulated('head', 'sim-gpt+fault=stall_before_head'),
        simulated('inside-head', 'sim-gpt+fault=stall_in_head'),
        simulated('body', 'sim-gpt+fault=stall_after_head'),
        simulated('inside-body', 'sim-gpt+words=50+fault=stall_mid_body'),
        simulated('first-content', 'sim-gpt+ttft=300000'),
        simulated('events', 'sim-gpt+words=500+gap=100'),
        simulated('stalled-events', 'sim-gpt+words=50+fault=stall_mid_body+at=4'),
        simulated('tail', 'sim-gpt+words=5+gap=5+fault=no_last_chunk'),
      ],
      { timers },
    ),
  );
});
after(() => finish(hole, silent));

const large = 'x'.repeat(12 << 20); // more than the sockets' buffers take

interface Phase {
  name: string;
  port: () => number;
  body?: (stream: boolean) => string;
  // What shows that the request has come to the phase, beside its socket towards the provider.
  reached?: (running: Running) => boolean;
  streamOnly?: boolean;
}
const atSimulator = () => simulator.port;
const phases: Phase[] = [
  { name: 'connect', port: () => hole.port },
  { name: 'tls', port: () => silent.port },
  { name: 'send', port: () => silent.port, body: (stream) => chatBody('send', { stream, user: large }) },
  { name: 'head', port: atSimulator },
  { name: 'inside-head', port: atSimulator },
  { name: 'body', port: atSimulator },
  { name: 'inside-body', port: atSimulator },
  { name: 'first-content', port: atSimulator },
  { name: 'events', port: atSimulator, streamOnly: true, reached: (running) => running.eventCount() >= 2 },
  { name: 'stalled-events', port: atSimulator, streamOnly: true, reached: (running) => running.eventCount() >= 3 },
];

for (const phase of phases) {
  for (const how of ['RST', 'FIN'] as const) {
    test(`${how} in the phase "${phase.name}"`, async () => {
      // Without what earlier tests left in the pool: only a good answer's connection may be kept.
      await until('nothing is open', async () => rig.socketsTo(phase.port()) === 0, 1_000);
      const before = rig.logged('request').filter((line) => line.route === phase.name).length;
      const forms = phase.streamOnly ? [true] : [false, true];
      const clients = forms.map((stream) => new Running(rig.baseURL, phase.name, { stream }, { body: phase.body?.(stream) }));
      await until(
        'the phase is reached',
        () => rig.socketsTo(phase.port()) === forms.length && clients.every((client) => phase.reached?.(client) ?? true),
        15_000,
      );
      await pause(60); // past the connect, where the phase lies behind it
      assert.equal(rig.socketsTo(phase.port()), forms.length, 'it stays there by itself');
      for (const client of clients) client.leave(how);
      const took = await until('the connections to the provider are closed', () => rig.socketsTo(phase.port()) === 0, 1_000);
      assert.ok(took <= 1_000);
      await until('nothing is in flight', async () => (await rig.metric('queqiao_requests_in_flight')) === 0, 1_000);
      await until('the simulator has none alive', async () => (await simulator.stats()).connections.live === 0, 1_000);
      assert.equal(await rig.metric('queqiao_upstream_connections_open'), 0);
      for (const client of clients) client.close();
      const lines = () => rig.logged('request').filter((line) => line.route === phase.name).slice(before);
      await until('they are in the log', () => lines().length === forms.length, 3_000);
      assert.deepEqual(lines().map((line) => line.outcome), forms.map(() => 'client_gone'));
    });
  }
}

test('a client that goes in the middle of its request costs the provider nothing', async () => {
  const before = (await simulator.stats()).connections.accepted;
  const open = await rig.metric('queqiao_connections_open');
  for (const how of ['RST', 'FIN']) {
    const socket = connect(rig.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n' +
        `authorization: Bearer ${clientKey}\r\ncontent-length: 5000\r\n\r\n{"model":"sim-gpt",`,
    );
    await until('it is there', async () => (await rig.metric('queqiao_connections_open')) > open, 2_000);
    if (how === 'RST') socket.resetAndDestroy();
    else socket.end();
    await until('it is gone', async () => (await rig.metric('queqiao_connections_open')) === open, 1_000);
    socket.destroy();
  }
  assert.equal((await simulator.stats()).connections.accepted, before);
});

test('after all of them a good request is answered, and its connection is kept', async () => {
  const { status } = await chat(rig.baseURL, 'sim-gpt');
  assert.equal(status, 200);
  assert.equal(rig.socketsTo(simulator.port), 1);
});
