// Files and batches with the official SDKs: two owners who share accounts, OpenAI's dialect and Anthropic's.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import Anthropic, { toFile as toAnthropicFile } from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { collect } from '../lib/pair.ts';
import { finish, hashOf, Rig, Simulator, until, type Sections } from '../lib/rig.ts';
import { clientKey, upstreamKey } from '../lib/secrets.ts';

const otherKey = `${clientKey}-of-another`;
let simulator: Simulator;
let rig: Rig;
let folder: string;

function sections(): Sections {
  const provider = (name: string, kind: string) => ({
    name,
    kind,
    base_url: simulator.baseURL,
    allow_private_address: true,
    accounts: [{ name: 'main', credential: `${upstreamKey}-${name}` }],
  });
  return {
    workers: 2,
    listeners: [{ address: '127.0.0.1:0', serve: ['api', 'metrics'] }],
    key_pepper: '${QUEQIAO_KEY_PEPPER}',
    providers: [provider('first', 'openai'), provider('second', 'openai_compatible'), provider('third', 'anthropic')],
    models: [
      { name: 'gpt', provider: 'first', upstream_name: 'sim-gpt' },
      { name: 'other', provider: 'second', upstream_name: 'sim-gpt' },
      { name: 'claude', provider: 'third', upstream_name: 'sim-claude' },
    ],
    storage: { objects: { path: join(folder, 'objects.db') } },
    keys: [
      { name: 'one', hash: hashOf(clientKey), owner: 'one' },
      { name: 'two', hash: hashOf(otherKey), owner: 'two' },
    ],
  };
}
const openai = (apiKey = clientKey, model = 'gpt') =>
  new OpenAI({ baseURL: rig.baseURL, apiKey, maxRetries: 0, defaultHeaders: { 'x-queqiao-model': model } });
const anthropic = (apiKey = clientKey) => new Anthropic({ baseURL: rig.root, apiKey, maxRetries: 0 });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'queqiao-objects-'));
  simulator = await Simulator.start();
  rig = await Rig.start(sections());
});
after(async () => {
  await finish();
  rmSync(folder, { recursive: true, force: true });
});

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 11 + (i >> 8)) & 0xff));
const upload = async (client: OpenAI, content: Buffer | string = bytes, purpose: OpenAI.FilePurpose = 'user_data') =>
  client.files.create({ file: await toFile(Buffer.from(content), 'a bridge é.bin'), purpose });
const notFound = (error: unknown) => (error as { status?: number }).status === 404;

test('a file is made, listed, read, downloaded and deleted', async () => {
  for (const model of ['gpt', 'other']) {
    const client = openai(clientKey, model);
    const made = await upload(client);
    assert.equal(made.object, 'file');
    assert.equal(made.bytes, bytes.length);
    assert.deepEqual((await collect(await client.files.list())).map((file) => file.id), [made.id]);
    assert.equal((await client.files.retrieve(made.id)).id, made.id);
    const content = Buffer.from(await (await client.files.content(made.id)).arrayBuffer());
    assert.ok(content.equals(bytes));
    assert.equal((await client.files.delete(made.id)).deleted, true);
    await assert.rejects(client.files.retrieve(made.id), notFound);
    assert.deepEqual(await collect(await client.files.list()), []);
  }
});

test('two owners who share an account see their own only', async () => {
  const one = openai();
  const two = openai(otherKey);
  const first = await upload(one);
  const second = await upload(two);
  assert.deepEqual((await collect(await one.files.list())).map((file) => file.id), [first.id]);
  assert.deepEqual((await collect(await two.files.list())).map((file) => file.id), [second.id]);
  await assert.rejects(two.files.retrieve(first.id), notFound);
  await assert.rejects(two.files.content(first.id), notFound);
  await assert.rejects(two.files.delete(first.id), notFound);
  await assert.rejects(
    two.batches.create({ input_file_id: first.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
    notFound,
  );
  await one.files.delete(first.id);
  await two.files.delete(second.id);
});

test('lists come in pages', async () => {
  const client = openai();
  const made = [];
  for (let i = 0; i < 5; i += 1) made.push((await upload(client, `${i}`)).id);
  const page = await client.files.list({ limit: 2, order: 'asc' });
  assert.equal(page.has_more, true);
  assert.deepEqual(page.data.map((file) => file.id), made.slice(0, 2));
  assert.deepEqual((await collect(page)).map((file) => file.id), made);
  assert.deepEqual((await collect(await client.files.list({ purpose: 'batch' }))).length, 0);
  for (const id of made) await client.files.delete(id);
});

const line = (id: string, model: string) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: 'A bridge?' }] },
  });

test('a batch is made, completes, is billed once and leaves its answers', async () => {
  // Its models say where it goes.
  const client = new OpenAI({ baseURL: rig.baseURL, apiKey: clientKey, maxRetries: 0 });
  const file = await upload(client, `${line('a', 'other')}\n${line('b', 'other')}\n`, 'batch');
  let batch = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { sim_polls: '3' },
  });
  let looks = 0;
  for (; batch.status !== 'completed'; looks += 1) {
    assert.ok(looks < 10, batch.status);
    batch = await client.batches.retrieve(batch.id);
  }
  await client.batches.retrieve(batch.id);
  assert.deepEqual((await collect(await client.batches.list())).map((one) => one.id), [batch.id]);
  const output = await (await client.files.content(batch.output_file_id!)).text();
  const answers = output.trim().split('\n').map((text) => JSON.parse(text));
  assert.deepEqual(answers.map((answer) => answer.custom_id), ['a', 'b']);
  assert.ok(answers[0].response.body.choices[0].message.content);
  // The log is written behind the answers: all readings have a line before they are counted.
  const readings = () => rig.logged('request').filter((entry) => entry.path === '/v1/batches/{}');
  await until('every reading has its line', () => readings().length === looks + 1, 5_000);
  const billed = readings().filter((entry) => entry.tokens_input_uncached > 0);
  assert.equal(billed.length, 1);
  assert.equal(billed[0].tokens_output_text, batch.usage!.output_tokens);
  await assert.rejects(openai(otherKey).files.content(batch.output_file_id!), notFound);
});

test('a batch names models that its key may use, at one account', async () => {
  const client = new OpenAI({ baseURL: rig.baseURL, apiKey: clientKey, maxRetries: 0 });
  await assert.rejects(upload(client, line('a', 'sim-gpt'), 'batch'), notFound);
  await assert.rejects(
    upload(client, `${line('a', 'gpt')}\n${line('b', 'other')}`, 'batch'),
    (error: InstanceType<typeof OpenAI.BadRequestError>) => error.status === 400 && /`other`/.test(error.message),
  );
});

test('a batch is cancelled', async () => {
  const client = openai();
  const file = await upload(client, line('a', 'gpt'), 'batch');
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
  assert.equal((await client.batches.cancel(made.id)).status, 'cancelling');
  assert.equal((await client.batches.retrieve(made.id)).status, 'cancelled');
});

test('a message batch is made, ends, and its results are read here', async () => {
  const client = anthropic();
  const params = { model: 'claude', max_tokens: 50, messages: [{ role: 'user' as const, content: 'A bridge?' }] };
  let batch = await client.messages.batches.create({
    requests: [
      { custom_id: 'a', params },
      { custom_id: 'b', params },
    ],
  });
  for (let looks = 0; batch.processing_status !== 'ended'; looks += 1) {
    assert.ok(looks < 10);
    batch = await client.messages.batches.retrieve(batch.id);
  }
  const results = await collect(await client.messages.batches.results(batch.id));
  assert.deepEqual(results.map((result) => [result.custom_id, result.result.type]), [
    ['a', 'succeeded'],
    ['b', 'succeeded'],
  ]);
  assert.deepEqual((await collect(await client.messages.batches.list())).map((one) => one.id), [batch.id]);
  await assert.rejects(anthropic(otherKey).messages.batches.retrieve(batch.id), notFound);
  assert.deepEqual(await collect(await anthropic(otherKey).messages.batches.list()), []);
  const cancelled = await client.messages.batches.create({ requests: [{ custom_id: 'a', params }] });
  assert.equal((await client.messages.batches.cancel(cancelled.id)).processing_status, 'canceling');
  assert.equal((await client.messages.batches.delete(batch.id)).type, 'message_batch_deleted');
  await assert.rejects(client.messages.batches.retrieve(batch.id), notFound);
});

test("Anthropic's files are made, listed, downloaded and deleted", async () => {
  const client = anthropic();
  const made = await client.beta.files.upload({ file: await toAnthropicFile(bytes, 'a.bin') });
  assert.equal(made.type, 'file');
  assert.deepEqual((await collect(await client.beta.files.list())).map((file) => file.id), [made.id]);
  assert.equal((await client.beta.files.retrieveMetadata(made.id)).size_bytes, bytes.length);
  const content = Buffer.from(await (await client.beta.files.download(made.id)).arrayBuffer());
  assert.ok(content.equals(bytes));
  await assert.rejects(anthropic(otherKey).beta.files.retrieveMetadata(made.id), notFound);
  await client.beta.files.delete(made.id);
  await assert.rejects(client.beta.files.retrieveMetadata(made.id), notFound);
});

test('what was made is found after a restart, and an account that is gone is named as such', async () => {
  const made = await upload(openai(clientKey, 'other'), 'bytes that stay');
  const forgotten = await upload(openai(clientKey, 'gpt'), 'bytes that are lost');
  await rig.stop();
  const config = sections() as { providers: { name: string }[]; models: { provider: string }[] };
  config.providers = config.providers.filter((provider) => provider.name !== 'first');
  config.models = config.models.filter((model) => model.provider !== 'first');
  rig = await Rig.start(config as unknown as Sections);
  const client = openai(clientKey, 'other');
  assert.equal(await (await client.files.content(made.id)).text(), 'bytes that stay');
  await assert.rejects(
    client.files.retrieve(forgotten.id),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 503 && /not configured/.test(error.message),
  );
});
