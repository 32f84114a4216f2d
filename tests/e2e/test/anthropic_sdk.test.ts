// Anthropic's own SDK at the gateway, whose provider speaks OpenAI's chat dialect.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
let client: Anthropic;
before(async () => {
  pair = await startPair([
    { name: 'sim-gpt', about: ', context: 128k, can: [tools, vision]' },
    { name: 'sim-reasoner' },
    { name: 'broken', upstream: 'sim-gpt+fault=503', fallback: 'sim-gpt' },
    { name: 'limited', upstream: 'sim-gpt+fault=429+retry_after=7' },
    { name: 'refusing', upstream: 'sim-gpt+fault=context_length' },
    { name: 'cut', upstream: 'sim-gpt+fault=reset_mid_body+at=6+gap=5' },
  ]);
  client = new Anthropic({ baseURL: pair.gateway.baseURL.replace(/\/v1$/, ''), apiKey: pair.gateway.apiKey, maxRetries: 0 });
});
after(() => pair.stop());

const said = (content: string) => ({ max_tokens: 400, messages: [{ role: 'user' as const, content }] });
const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const time: Anthropic.Tool = { ...weather, name: 'get_time' };

test('a message has the text and the usage that the provider gave', async () => {
  const message = await client.messages.create({ model: 'sim-gpt', ...said('Hello! 你好！ 🙂') });
  const direct = await pair.direct.chat.completions.create({
    model: 'sim-gpt',
    messages: [{ role: 'user', content: 'Hello! 你好！ 🙂' }],
    max_tokens: 400,
  });
  assert.equal(message.content[0].type, 'text');
  assert.equal((message.content[0] as Anthropic.TextBlock).text, direct.choices[0].message.content);
  assert.equal(message.stop_reason, 'end_turn');
  assert.equal(message.model, 'sim-gpt');
  assert.equal(message.usage.output_tokens, direct.usage!.completion_tokens);
  assert.ok(message._request_id, 'the SDK finds the request id');
});

test('a stream accumulates to the same message', async () => {
  const whole = await client.messages.create({ model: 'sim-gpt', ...said('Count to ten.') });
  const stream = client.messages.stream({ model: 'sim-gpt', ...said('Count to ten.') });
  let deltas = 0;
  stream.on('text', () => void deltas++);
  const streamed = await stream.finalMessage();
  assert.ok(deltas > 2, 'it came piece by piece');
  assert.deepEqual(streamed.content, whole.content);
  assert.equal(streamed.stop_reason, 'end_turn');
  assert.ok(streamed.usage.output_tokens > 0);
});

for (const streamed of [false, true]) {
  test(`parallel tools and their results, ${streamed ? 'streamed' : 'whole'}`, async () => {
    const request = { model: 'sim-gpt', ...said('Weather and time in Paris?'), tools: [weather, time] };
    const first = streamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    const calls = first.content.filter((block) => block.type === 'tool_use');
    assert.equal(first.stop_reason, 'tool_use');
    assert.deepEqual(calls.map((call) => call.name).sort(), ['get_time', 'get_weather']);
    for (const call of calls) assert.equal(typeof (call.input as { city: unknown }).city, 'string');
    const second = await client.messages.create({
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: `result of ${call.name}` })),
        },
      ],
    });
    assert.equal(second.stop_reason, 'end_turn');
    assert.equal(second.content[0].type, 'text');
  });
}

test('thoughts come as thinking blocks and go back', async () => {
  const request = { model: 'sim-reasoner', ...said('Why is the sky blue?'), thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
  const first = await client.messages.create({ ...request, max_tokens: 4000 });
  assert.equal(first.content[0].type, 'thinking');
  assert.ok((first.content[0] as Anthropic.ThinkingBlock).thinking.length > 0);
  const second = await client.messages.create({
    ...request,
    max_tokens: 4000,
    messages: [...request.messages, { role: 'assistant', content: first.content }, { role: 'user', content: 'Really?' }],
  });
  assert.equal(second.stop_reason, 'end_turn');
});

test('a provider that fails is not seen', async () => {
  const message = await client.messages.create({ model: 'broken', ...said('Hello') });
  assert.equal(message.content[0].type, 'text');
});

test('errors are the typed ones of the SDK', async () => {
  await assert.rejects(client.messages.create({ model: 'nobody', ...said('x') }), Anthropic.NotFoundError);
  await assert.rejects(client.messages.create({ model: 'limited', ...said('x') }), (error: unknown) => {
    assert.ok(error instanceof Anthropic.RateLimitError, String(error));
    assert.ok(Number(error.headers.get('retry-after')) >= 1);
    return true;
  });
  await assert.rejects(client.messages.create({ model: 'refusing', ...said('x') }), Anthropic.BadRequestError);
  const stranger = new Anthropic({ baseURL: client.baseURL, apiKey: 'sk-wrong', maxRetries: 0 });
  await assert.rejects(stranger.messages.create({ model: 'sim-gpt', ...said('x') }), Anthropic.AuthenticationError);
  await assert.rejects(
    client.messages.create({ model: 'sim-gpt', max_tokens: 5, messages: [{ role: 'user', content: 7 as never }] }),
    (error: unknown) => error instanceof Anthropic.BadRequestError && error.message.includes('messages.0.content'),
  );
});

test('a stream that breaks raises, after what had come', async () => {
  const stream = client.messages.stream({ model: 'cut', ...said('Tell me something long.') });
  let text = '';
  stream.on('text', (delta) => void (text += delta));
  await assert.rejects(stream.finalMessage(), Anthropic.APIError);
  assert.ok(text.length > 0);
});

test('models are listed', async () => {
  const names: string[] = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.ok(names.includes('sim-gpt'));
  const one = await client.models.retrieve('sim-gpt');
  assert.equal(one.type, 'model');
  assert.equal(one.max_input_tokens, 128_000);
  assert.equal(one.capabilities?.image_input.supported, true);
  assert.equal(one.capabilities?.thinking.types.enabled.supported, false);
});
