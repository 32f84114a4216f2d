// Embeddings with the official SDKs, where the providers have other words for them than their clients.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { startPair, type Pair } from '../lib/pair.ts';

const aws = { path: '', more: ', region: eu-central-1', credential: 'AKIAEXAMPLE000000001:secret/of+the+tests' };
const providers = [
  { name: 'at-openai', kind: 'openai', upstream: 'sim-embedding' },
  { name: 'at-gemini', kind: 'gemini', path: '/v1beta', upstream: 'sim-embedding-2' },
  { name: 'at-cohere', kind: 'cohere', path: '/v2', upstream: 'sim-embed' },
  { name: 'at-titan', kind: 'bedrock', upstream: 'amazon.titan-embed-text-v2:0', ...aws },
  { name: 'at-bedrock-cohere', kind: 'bedrock', upstream: 'cohere.embed-v4:0', ...aws },
  { name: 'at-bedrock-claude', kind: 'bedrock_anthropic', upstream: 'eu.anthropic.sim-claude-v1:0', ...aws },
];

let pair: Pair;
let google: GoogleGenAI;
let anthropic: Anthropic;
before(async () => {
  pair = await startPair(providers);
  const baseUrl = pair.gateway.baseURL.replace(/\/v1$/, '');
  google = new GoogleGenAI({ apiKey: pair.gateway.apiKey, httpOptions: { baseUrl } });
  anthropic = new Anthropic({ baseURL: baseUrl, apiKey: pair.gateway.apiKey, maxRetries: 0 });
});
after(() => pair.stop());

const direct = (input: string | string[]) =>
  pair.direct.embeddings.create({ model: 'sim-embedding', input, dimensions: 32 });

for (const { name } of providers.slice(0, 5)) {
  test(`${name}: a text, in the encoding that the SDK chooses and as numbers`, async () => {
    const request = { model: name, input: 'a bridge of magpies', dimensions: 32 };
    const expected = (await direct(request.input)).data;
    const answer = await pair.through.embeddings.create(request);
    assert.deepEqual(answer.data, expected);
    assert.equal(answer.model, name);
    const numbers = await pair.through.embeddings.create({ ...request, encoding_format: 'float' });
    assert.deepEqual(numbers.data[0].embedding.map(Math.fround), expected[0].embedding);
  });

  test(`${name}: a list keeps its order, or is refused by name`, async () => {
    const input = ['one', '二', 'three'];
    const asked = pair.through.embeddings.create({ model: name, input, dimensions: 32 });
    if (name === 'at-titan') return assert.rejects(asked, { status: 400, param: 'input' });
    assert.deepEqual((await asked).data, (await direct(input)).data);
  });

  test(`${name}: Google's SDK gets the same`, async () => {
    const config = { outputDimensionality: 32 };
    const answer = await google.models.embedContent({ model: name, contents: 'a bridge of magpies', config });
    const expected = (await direct('a bridge of magpies')).data[0].embedding;
    assert.deepEqual(answer.embeddings![0].values!.map(Math.fround), expected);
  });
}

test('tokens are counted by Bedrock for clients of Anthropic', async () => {
  const counted = await anthropic.messages
    .countTokens({ model: 'at-bedrock-claude', messages: [{ role: 'user', content: 'Hello!' }] })
    .withResponse();
  assert.ok(counted.data.input_tokens > 0);
  assert.equal(counted.response.headers.get('x-queqiao-estimated'), null);
});

test('a conversation is compacted where OpenAI is asked', async () => {
  const request = { model: 'at-openai', input: 'What is a bridge?' };
  const compacted = (await pair.through.post('/responses/compact', { body: request })) as { object: string };
  assert.equal(compacted.object, 'response.compaction');
  await assert.rejects(pair.through.post('/responses/compact', { body: { ...request, model: 'at-cohere' } }), {
    status: 400,
    message: /compact_response/,
  });
});
