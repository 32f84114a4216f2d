// Providers behind an HTTP proxy: tunnels with a password, for http and https; what the proxy refuses is a failure to
// connect, and the fallback is tried.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { blackHole, type Hole } from '../lib/holes.ts';
import { chat, Running } from '../lib/http.ts';
import { proxyPassword, proxyUser, startProxy, type Proxy, type Whim } from '../lib/proxy.ts';
import { configuration, finish, Rig, Simulator, until } from '../lib/rig.ts';
import { keep } from '../lib/secrets.ts';
import { Certificates, tlsFront, type Front } from '../lib/tls.ts';

keep(proxyPassword);
let simulator: Simulator;
let other: Simulator;
let certificates: Certificates;
let front: Front;
let proxy: Proxy;
let hole: Hole;
let rig: Rig;
const proxyURL = (port: number, password = proxyPassword) => `http://${proxyUser}:${password}@127.0.0.1:${port}`;

before(async () => {
  simulator = await Simulator.start();
  other = await Simulator.start();
  certificates = new Certificates();
  front = await tlsFront(certificates.signed('good', 'IP:127.0.0.1'), simulator.port);
  proxy = await startProxy();
  hole = await blackHole();
  rig = await Rig.start(
    configuration(
      [
        { name: 'plain', upstream: 'sim-gpt+words=5', base_url: simulator.baseURL },
        { name: 'secure', upstream: 'sim-gpt+words=5', base_url: `https://127.0.0.1:${front.port}/v1` },
        { name: 'by-name', upstream: 'sim-gpt+words=5', base_url: `http://localhost:${simulator.port}/v1` },
        { name: 'paced', upstream: 'sim-gpt+words=20+gap=10', base_url: simulator.baseURL },
        // Its connection is not kept, so that each request asks the proxy.
        { name: 'lost', upstream: 'sim-gpt+words=5+fault=http10', base_url: other.baseURL },
        { name: 'saved', upstream: 'sim-gpt+words=5+fault=http10', base_url: other.baseURL, fallback: 'plain' },
      ],
      {
        outbound: { proxy: proxyURL(proxy.port), ca_file: certificates.caFile },
        timers: { connect: '300ms' },
      },
    ),
  );
});
after(() => finish(proxy, front, certificates, hole));

test('http, https and names go through the tunnel, with the password, streamed or not', async () => {
  for (const model of ['plain', 'secure', 'by-name']) {
    const { status, text } = await chat(rig.baseURL, model);
    assert.equal(status, 200, text);
  }
  const stream = new Running(rig.baseURL, 'paced', { stream: true });
  await stream.ended;
  assert.ok(stream.done, stream.text);
  assert.equal(proxy.unauthorized(), 0);
  assert.deepEqual(
    [...new Set(proxy.asked)].sort(),
    [`127.0.0.1:${simulator.port}`, `127.0.0.1:${front.port}`, `localhost:${simulator.port}`].sort(),
  );
  assert.equal(rig.socketsTo(simulator.port), 0, 'nothing goes past the proxy');
  assert.equal(rig.socketsTo(front.port), 0);
});

test('the password goes to the proxy and not to the provider', async () => {
  const heads = (await simulator.requests()).map((request) => String(request.head).toLowerCase());
  assert.ok(heads.length > 0);
  for (const head of heads) assert.ok(!head.includes('proxy-'), head);
});

const refusals: [Whim, number, string][] = [
  [403, 503, 'upstream_connect_failed'],
  [407, 503, 'upstream_connect_failed'],
  [502, 503, 'upstream_connect_failed'],
  ['close', 503, 'upstream_connect_failed'],
  ['reset', 503, 'upstream_connect_failed'],
  ['junk', 503, 'upstream_connect_failed'],
  ['stall', 504, 'upstream_connect_timeout'],
];
for (const [whim, status, code] of refusals) {
  test(`a proxy that does not make the tunnel (${whim}): the fallback answers; without one, ${status} ${code}`, async () => {
    proxy.whims.set(other.port, undefined);
    // A success between them keeps the breaker closed: five failures in a row would open it.
    for (const model of ['lost', 'saved']) assert.equal((await chat(rig.baseURL, model)).status, 200);
    proxy.whims.set(other.port, whim);
    const saved = await chat(rig.baseURL, 'saved');
    assert.equal(saved.status, 200, saved.text);
    assert.match(String(saved.headers['x-queqiao-attempts']), /^saved-first connect_\w+ \d+ms.*, plain success \d+ms$/);
    const lost = await chat(rig.baseURL, 'lost');
    assert.equal(lost.status, status, lost.text);
    assert.equal(lost.json.error.code, code);
    await until('no connection to the proxy hangs', () => rig.socketsTo(proxy.port) <= 8, 1_000);
  });
}

test('a wrong password is a failure to connect whose log line says 407 and not the password', async () => {
  const wrong = 'canary-wrong-proxy-password-20';
  keep(wrong);
  const locked = await Rig.start(
    configuration([{ name: 'plain', upstream: 'sim-gpt', base_url: simulator.baseURL }], {
      outbound: { proxy: proxyURL(proxy.port, wrong) },
    }),
  );
  const got = await chat(locked.baseURL, 'plain');
  assert.equal(got.status, 503, got.text);
  assert.match(got.json.error.message, /cannot be reached/);
  await locked.program.line(locked.program.stderr, /"error_message":"[^"]*407/);
  assert.equal(proxy.unauthorized() > 0, true);
});

test('a proxy that cannot be reached is a timeout, and one that is not there a refusal', async () => {
  const start = (port: number) =>
    Rig.start(
      configuration([{ name: 'plain', upstream: 'sim-gpt', base_url: simulator.baseURL }], {
        outbound: { proxy: proxyURL(port) },
        timers: { connect: '300ms' },
      }),
    );
  const far = await (await start(hole.port)).baseURL;
  const timeout = await chat(far, 'plain');
  assert.equal(timeout.json.error.code, 'upstream_connect_timeout', timeout.text);
  const closed = await startProxy();
  await closed.stop();
  const refused = await chat((await start(closed.port)).baseURL, 'plain');
  assert.equal(refused.json.error.code, 'upstream_connect_failed', refused.text);
});
