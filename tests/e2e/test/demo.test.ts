// `queqiao demo --json`: what it promises to programs, and what it says of itself while it runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { Program, binary, startDemo } from '../lib/programs.ts';

let demo: Awaited<ReturnType<typeof startDemo>>;
let client: OpenAI;
before(async () => {
  demo = await startDemo();
  client = new OpenAI({ baseURL: demo.base_url, apiKey: demo.api_key, maxRetries: 0 });
});
after(async () => {
  assert.equal(await demo.program.stop(), 0);
});

const site = () => demo.base_url.replace(/\/v1$/, '');

test('the first line of stdout tells programs where and how', () => {
  assert.match(demo.base_url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  assert.match(demo.api_key, /^sk-qq_[0-9A-Za-z]{38}$/);
  assert.ok(demo.models.length > 0);
  assert.equal(demo.program.stdout.length, 1);
});

test('every chat model that it names answers', async () => {
  for (const model of demo.models.filter((name) => !/embedding|moderation|image/.test(name))) {
    const answer = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] });
    assert.ok(answer.choices[0].message.content, model);
  }
});

test('health, readiness and metrics are served, also for operators at an address of their own', async () => {
  for (const where of [site(), demo.admin_url]) {
    assert.equal((await fetch(`${where}/healthz`)).status, 200);
    assert.equal((await fetch(`${where}/readyz`)).status, 200);
    assert.equal((await fetch(`${where}/metrics`)).status, 200);
  }
  assert.match(demo.admin_url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(demo.metrics_url, `${demo.admin_url}/metrics`);
  assert.equal((await fetch(`${demo.admin_url}/v1/models`)).status, 404, 'the API is elsewhere');
  const metrics = await (await fetch(demo.metrics_url)).text();
  for (const name of ['queqiao_requests_total', 'queqiao_overhead_seconds_bucket', 'queqiao_ttft_seconds',
    'queqiao_attempts_total', 'queqiao_connections_open', 'queqiao_event_loop_lag_seconds', 'queqiao_build_info',
    'queqiao_config_generation', 'queqiao_breaker_state']) {
    assert.match(metrics, new RegExp(`^${name}`, 'm'));
  }
});

test('logs are one JSON object per line on stderr, without the key or the prompt', async () => {
  const canary = 'CANARY-7f3a9';
  await client.chat.completions.create({ model: demo.models[0], messages: [{ role: 'user', content: canary }] });
  await client.chat.completions
    .create({ model: canary, messages: [{ role: 'user', content: canary }] })
    .catch(() => undefined);
  await demo.program.line(demo.program.stderr, /"msg":"request".*"status":404/);
  for (const line of demo.program.stderr) {
    const fields = JSON.parse(line);
    assert.ok(fields.ts && fields.level && fields.msg, line);
    assert.ok(!line.includes(canary) && !line.includes(demo.api_key), line);
  }
});

test('a chosen key works and a taken port is a clear error', async () => {
  const other = await startDemo(['--key', 'sk-chosen-by-hand']);
  try {
    assert.equal(other.api_key, 'sk-chosen-by-hand');
    const asked = await fetch(`${other.base_url}/models`, { headers: { authorization: 'Bearer sk-chosen-by-hand' } });
    assert.equal(asked.status, 200);
  } finally {
    await other.program.stop();
  }
  const taken = spawnSync(binary, ['demo', '--listen', new URL(demo.base_url).host], { encoding: 'utf8', timeout: 20_000 });
  assert.equal(taken.status, 1);
  assert.match(taken.stderr, /--listen/);
});

test('the commands of the text for people work when pasted, also of a demo on all interfaces', async () => {
  const other = new Program(['demo', '--listen', ':0']);
  try {
    await other.line(other.stdout, /Stop with Ctrl-C/);
    assert.ok(other.stdout.some((line) => line.startsWith('WARNING: it listens on 0.0.0.0:')));
    const curls = other.stdout.map((line) => line.trim()).filter((line) => line.startsWith('curl '));
    const [chat, fallback, messages] = curls.map((curl) => {
      const done = spawnSync('bash', ['-c', curl], { encoding: 'utf8', timeout: 20_000 });
      assert.equal(done.status, 0, `${curl}\n${done.stderr}`);
      return done.stdout;
    });
    assert.ok(JSON.parse(chat).choices[0].message.content);
    assert.match(fallback, /^x-queqiao-attempts: sim-broken .*, sim-spare success/m);
    assert.ok(JSON.parse(messages).content[0].text);
  } finally {
    assert.equal(await other.stop(), 0);
  }
});

test('output that nobody gets is a failure, and everything is shut down', () => {
  for (const options of [[], ['--json']]) {
    const full = openSync('/dev/full', 'w');
    const lost = spawnSync(binary, ['demo', '--listen', '127.0.0.1:0', ...options],
      { encoding: 'utf8', timeout: 20_000, stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    assert.deepEqual([lost.status, lost.signal], [1, null]);
    assert.match(lost.stderr, /^queqiao demo: the output could not be written$/m);
  }
});

test('it ends with its terminal', async () => {
  const other = await startDemo();
  const exit = once(other.program.child, 'exit');
  other.program.child.kill('SIGHUP');
  assert.deepEqual(await exit, [0, null]);
});
