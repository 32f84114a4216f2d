// The other endpoints with the official SDK.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import { collect, startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
before(async () => {
  pair = await startPair([
    { name: 'sim-gpt', about: ', context: 128k, can: [tools, vision]' }, { name: 'sim-embedding' }, { name: 'sim-moderation' }, { name: 'sim-image' },
  ]);
});
after(() => pair.stop());

test('embeddings are equal, as numbers and as base64', async () => {
  const answer = await pair.same((client) =>
    client.embeddings.create({ model: 'sim-embedding', input: ['one', '二'] }),
  );
  assert.equal(answer.data.length, 2);
  assert.ok(answer.data[0].embedding.length > 1);
  const plain = await pair.same((client) =>
    client.embeddings.create({ model: 'sim-embedding', input: 'one', encoding_format: 'float' }),
  );
  assert.equal(typeof plain.data[0].embedding[0], 'number');
});

test('moderations are equal', async () => {
  const answer = await pair.same((client) =>
    client.moderations.create({ model: 'sim-moderation', input: 'hello' }),
  );
  assert.equal(typeof answer.results[0].flagged, 'boolean');
});

test('images are equal', async () => {
  const answer = await pair.same((client) =>
    client.images.generate({ model: 'sim-image', prompt: 'a bridge of magpies' }),
  );
  assert.ok(answer.data!.length > 0);
});

test('completions are equal, streamed and not', async () => {
  const request = { model: 'sim-gpt', prompt: 'Once upon a time' };
  const answer = await pair.same((client) => client.completions.create(request));
  assert.ok(answer.choices[0].text);
  const chunks = await pair.same(async (client) =>
    collect(await client.completions.create({ ...request, stream: true })),
  );
  assert.ok(chunks.length > 1);
});

test('the models that may be asked are listed', async () => {
  const names = (await collect(await pair.through.models.list())).map((model) => model.id);
  assert.deepEqual(names.sort(), ['sim-embedding', 'sim-gpt', 'sim-image', 'sim-moderation']);
  const one = (await pair.through.models.retrieve('sim-gpt')) as OpenAI.Model & Record<string, unknown>;
  assert.equal(one.id, 'sim-gpt');
  assert.equal(one.context_length, 128_000);
  assert.deepEqual(one.capabilities, ['tools', 'vision']);
});
