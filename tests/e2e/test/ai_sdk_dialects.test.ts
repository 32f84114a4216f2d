// The AI SDK's provider packages of three dialects at the gateway, whose provider speaks OpenAI's chat dialect.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateObject, generateText, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';
import { startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
let models: Record<string, LanguageModel>;
before(async () => {
  pair = await startPair([{ name: 'sim-gpt' }]);
  const { baseURL, apiKey } = pair.gateway;
  models = {
    anthropic: createAnthropic({ baseURL, apiKey })('sim-gpt'),
    google: createGoogleGenerativeAI({ baseURL: baseURL.replace(/\/v1$/, '/v1beta'), apiKey })('sim-gpt'),
    'openai responses': createOpenAI({ baseURL, apiKey })('sim-gpt'),
  };
});
after(() => pair.stop());

const weather = () =>
  tool({
    description: 'the weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, degrees: 21 }),
  });

for (const name of ['anthropic', 'google', 'openai responses']) {
  test(`${name}: text, whole and streamed, is the same`, async () => {
    const whole = await generateText({ model: models[name], prompt: 'Count to ten.', maxRetries: 0 });
    assert.ok(whole.text.length > 10);
    assert.equal(whole.finishReason, 'stop');
    assert.ok(whole.usage.outputTokens! > 0);
    const stream = streamText({ model: models[name], prompt: 'Count to ten.', maxRetries: 0 });
    let text = '';
    for await (const delta of stream.textStream) text += delta;
    assert.equal(text, whole.text);
    assert.equal(await stream.finishReason, 'stop');
  });

  test(`${name}: a tool loop of two steps, streamed`, async () => {
    const stream = streamText({
      model: models[name],
      prompt: 'What is the weather in Paris?',
      tools: { weather: weather() },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    await stream.consumeStream();
    const steps = await stream.steps;
    assert.equal(steps.length, 2);
    assert.equal(steps[0].toolCalls[0].toolName, 'weather');
    assert.equal((steps[0].toolResults[0].output as { degrees: number }).degrees, 21);
    assert.ok(steps[1].text.length > 0);
  });

  test(`${name}: an object by its schema`, async () => {
    const { object } = await generateObject({
      model: models[name],
      prompt: 'A city, please.',
      schema: z.object({ city: z.string() }),
      maxRetries: 0,
    });
    assert.equal(typeof object.city, 'string');
  });
}
