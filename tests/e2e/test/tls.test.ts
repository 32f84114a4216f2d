// TLS on both sides with certificates of our own: what is trusted works and is resumed, what is not is a failure
// of that provider.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import OpenAI from 'openai';
import { chat, Running } from '../lib/http.ts';
import { configuration, finish, Rig, Simulator, until } from '../lib/rig.ts';
import { clientKey, promptCanary } from '../lib/secrets.ts';
import { Certificates, expired, tlsFront, type Front } from '../lib/tls.ts';

const loopback = 'DNS:localhost,IP:127.0.0.1';
const badOnes = ['wrong-host', 'expired', 'self-signed', 'plain-http'];
let certificates: Certificates;
let simulator: Simulator;
let rig: Rig;
let good: Front;
let https: Simulator;
const fronts: Front[] = [];

before(async () => {
  certificates = new Certificates();
  simulator = await Simulator.start();
  const front = async (pair: Parameters<typeof tlsFront>[0]) => {
    const made = await tlsFront(pair, simulator.port);
    fronts.push(made);
    return made;
  };
  good = await front(certificates.signed('good', loopback));
  // The simulator's own TLS gives a new ticket at each handshake, as most providers' servers do; Node's gives none
  // at a resumed one.
  const pair = certificates.signed('once', loopback);
  https = await Simulator.start(['--tls-cert', pair.certificate, '--tls-key', pair.key]);
  const ports = new Map([
    ['wrong-host', (await front(certificates.signed('wrong-host', 'DNS:elsewhere.example,IP:127.0.0.2'))).port],
    ['expired', (await front(certificates.signed('expired', loopback, expired))).port],
    ['self-signed', (await front(certificates.selfSigned('self-signed', loopback))).port],
    ['plain-http', simulator.port],
  ]);
  const listener = certificates.signed('listener', loopback);
  const at = (port: number, host = '127.0.0.1') => `https://${host}:${port}/v1`;
  rig = await Rig.start(
    configuration(
      [
        { name: 'good', upstream: 'sim-gpt', base_url: at(good.port) },
        { name: 'good-by-name', upstream: 'sim-gpt', base_url: at(good.port, 'localhost') },
        // Closes after each answer, so that every request shakes hands.
        { name: 'good-once', upstream: 'sim-gpt+words=5+fault=http10', base_url: at(https.port) },
        { name: 'paced', upstream: 'sim-gpt+words=20+gap=10', base_url: at(good.port) },
        ...badOnes.flatMap((name) => [
          { name, base_url: at(ports.get(name)!) },
          { name: `saved-from-${name}`, base_url: at(ports.get(name)!), fallback: 'good' },
        ]),
      ],
      {
        listeners: [
          {
            address: '127.0.0.1:0',
            serve: ['api', 'metrics'],
            tls: { certificate: listener.certificate, key: listener.key },
          },
        ],
        outbound: { ca_file: certificates.caFile },
      },
    ),
  );
});
after(() => finish(...fronts, certificates));

const ask = (model: string, more?: Record<string, unknown>) => chat(rig.baseURL, model, { ca: certificates.ca, more });
const metric = (name: string) => rig.metric(name, certificates.ca);

test('a request goes through TLS on both sides, by address and by name, streamed or not', async () => {
  for (const model of ['good', 'good-by-name']) {
    const { status, json, text } = await ask(model);
    assert.equal(status, 200, text);
    assert.ok(json.choices[0].message.content);
  }
  const stream = new Running(rig.baseURL, 'paced', { stream: true }, { ca: certificates.ca });
  await stream.ended;
  assert.ok(stream.done, stream.text);
});

test('later connections to a provider resume its TLS session', async () => {
  const before = await metric('queqiao_upstream_tls_resumed_total');
  const handshakes = await metric('queqiao_upstream_tls_handshakes_total');
  for (let i = 0; i < 10; i += 1) assert.equal((await ask('good-once')).status, 200);
  const resumed = (await metric('queqiao_upstream_tls_resumed_total')) - before;
  assert.ok((await metric('queqiao_upstream_tls_handshakes_total')) - handshakes >= 10);
  assert.ok(resumed >= 8, `${resumed} of 10 resumed`);
});

test('a client resumes its session with the listener', async () => {
  const shake = (session?: Buffer) =>
    new Promise<{ reused: boolean; session?: Buffer; protocol: string | null }>((done, failed) => {
      let ticket: Buffer | undefined;
      const socket = tls.connect({ port: rig.port, host: '127.0.0.1', ca: certificates.ca, session }, () => {
        const reused = socket.isSessionReused();
        socket.write('GET /healthz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n');
        socket.resume();
        socket.on('close', () => done({ reused, session: ticket, protocol }));
        const protocol = socket.getProtocol();
      });
      socket.on('session', (given) => (ticket = given));
      socket.on('error', failed);
    });
  const first = await shake();
  assert.equal(first.protocol, 'TLSv1.3');
  assert.ok(first.session, 'a ticket was given');
  assert.ok((await shake(first.session)).reused);
});

test('the listener speaks no TLS older than 1.2', async () => {
  const failed = await new Promise<Error | undefined>((done) => {
    const socket = tls.connect(
      { port: rig.port, host: '127.0.0.1', ca: certificates.ca, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' },
      () => done(undefined),
    );
    socket.on('error', done);
  });
  assert.ok(failed);
});

for (const name of badOnes) {
  test(`a provider that cannot be trusted (${name}): the fallback answers; without one, 502 upstream_tls`, async () => {
    const total = (await simulator.stats()).requests.total;
    const saved = await ask(`saved-from-${name}`);
    assert.equal(saved.status, 200, saved.text);
    assert.match(String(saved.headers['x-queqiao-attempts']), new RegExp(`^saved-from-${name}-first tls_failed \\d+ms, good success \\d+ms$`));
    for (const stream of [false, true]) {
      const lost = await ask(name, { stream });
      assert.equal(lost.status, 502, lost.text);
      assert.equal(lost.json.error.code, 'upstream_tls');
      assert.equal(lost.headers['x-queqiao-attempts']?.toString().split(',').length, 1, 'not tried again at the same place');
    }
    assert.equal((await simulator.stats()).requests.total, total + 1, 'nothing was sent where trust failed');
  });
}

test('a client that speaks plain HTTP to the TLS listener is dropped, and others are served', async () => {
  const plain = await new Promise<string>((done) => {
    fetch(`http://${rig.address}/healthz`).then((got) => done(`status ${got.status}`), (error) => done(String(error)));
  });
  assert.ok(!plain.includes('status 200'), plain);
  await until('served', async () => (await ask('good')).status === 200);
});

test('the official SDK works over https', async () => {
  tls.setDefaultCACertificates([...tls.getCACertificates(), certificates.ca]);
  const client = new OpenAI({ baseURL: rig.baseURL, apiKey: clientKey, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: promptCanary }];
  const whole = await client.chat.completions.create({ model: 'good', messages });
  let text = '';
  for await (const chunk of await client.chat.completions.create({ model: 'good', messages, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  assert.equal(text, whole.choices[0].message.content);
});
