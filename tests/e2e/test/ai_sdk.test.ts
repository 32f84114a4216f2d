// The AI SDK (`ai` with @ai-sdk/openai-compatible) through the gateway and straight to the provider.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
let direct: OpenAICompatibleProvider;
let through: OpenAICompatibleProvider;
before(async () => {
  pair = await startPair([
    { name: 'sim-gpt' },
    { name: 'sim-reasoner' },
    { name: 'sim-embedding' },
    { name: 'limited', upstream: 'sim-gpt+status=429+retry_after=3' },
    { name: 'unprocessable', upstream: 'sim-gpt+status=422' },
  ]);
  const settings = { name: 'queqiao', includeUsage: true, supportsStructuredOutputs: true };
  direct = createOpenAICompatible({ ...settings, baseURL: pair.direct.baseURL, apiKey: 'sk-simulated' });
  through = createOpenAICompatible({ ...settings, baseURL: pair.gateway.baseURL, apiKey: pair.gateway.apiKey });
});
after(() => pair.stop());

async function same<T>(calls: (provider: OpenAICompatibleProvider) => Promise<T>): Promise<T> {
  const expected = await calls(direct);
  const got = await calls(through);
  assert.deepEqual(got, expected);
  return got;
}

const weather = tool({
  description: 'the weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
});

test('generateText gives the same text, usage and finish reason', async () => {
  const result = await same(async (provider) => {
    const { text, usage, finishReason } = await generateText({ model: provider('sim-gpt'), prompt: 'Hello! 你好！' });
    return { text, input: usage.inputTokens, output: usage.outputTokens, finishReason };
  });
  assert.ok(result.text);
  assert.equal(result.finishReason, 'stop');
  assert.ok(result.input! > 0);
});

test('streamText gives the same parts', async () => {
  const parts = await same(async (provider) => {
    const types: string[] = [];
    let text = '';
    for await (const part of streamText({ model: provider('sim-gpt'), prompt: 'Count to ten.' }).fullStream) {
      types.push(part.type);
      if (part.type === 'text-delta') text += part.text;
      if (part.type === 'error') throw part.error;
    }
    return { types, text };
  });
  assert.ok(parts.types.includes('finish'));
  assert.ok(parts.text);
});

test('tools run and their results are answered', async () => {
  const result = await same(async (provider) => {
    const { text, steps } = await generateText({
      model: provider('sim-gpt'),
      prompt: 'Weather in Paris?',
      tools: { weather },
      stopWhen: stepCountIs(3),
    });
    return { text, calls: steps.flatMap((step) => step.toolCalls.map((call) => call.input)) };
  });
  assert.ok(result.calls.length > 0);
  assert.match(result.text, /sunny/);
});

test('an object keeps to its schema', async () => {
  const schema = z.object({ name: z.string(), age: z.number() });
  const result = await same(async (provider) => {
    const { output } = await generateText({
      model: provider('sim-gpt'), prompt: 'A person, please.', output: Output.object({ schema }),
    });
    return output;
  });
  assert.ok(schema.safeParse(result).success);
});

test('reasoning is told apart from the text', async () => {
  const result = await same(async (provider) => {
    const { reasoningText, text } = await generateText({ model: provider('sim-reasoner'), prompt: 'Think.' });
    return { reasoningText, text };
  });
  assert.ok(result.reasoningText);
});

test('embedMany gives the same vectors', async () => {
  const vectors = await same(async (provider) => {
    const { embeddings } = await embedMany({ model: provider.embeddingModel('sim-embedding'), values: ['a', 'b'] });
    return embeddings;
  });
  assert.equal(vectors.length, 2);
});

test('errors are APICallErrors that say whether to try again', async () => {
  const call = (model: string) => generateText({ model: through(model), prompt: 'Hello!', maxRetries: 0 });
  await assert.rejects(call('limited'), (error) => {
    assert.ok(APICallError.isInstance(error), String(error));
    assert.equal(error.statusCode, 429);
    assert.equal(error.isRetryable, true);
    assert.ok(Number(error.responseHeaders!['retry-after']) >= 1);
    return true;
  });
  await assert.rejects(call('unprocessable'), (error) => {
    assert.ok(APICallError.isInstance(error), String(error));
    assert.equal(error.isRetryable, false);
    return true;
  });
});
