// Chat completions with the official SDK: what comes through the gateway equals what the provider gives.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { collect, startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
before(async () => {
  pair = await startPair([
    { name: 'sim-gpt' },
    { name: 'sim-reasoner' },
    { name: 'sim-vision' },
    { name: 'indented', upstream: 'sim-gpt+fault=leading_space' },
  ]);
});
after(() => pair.stop());

const ask = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }];

const tools: ChatCompletionTool[] = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: 'about a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}));

test('a plain answer is equal, and says who answered', async () => {
  const answer = await pair.same((client) =>
    client.chat.completions.create({ model: 'sim-gpt', messages: ask('Hello! 你好！ 🙂'), temperature: 0.5, seed: 7 }),
  );
  assert.equal(answer.model, 'sim-gpt');
  assert.ok(answer.choices[0].message.content);
  assert.ok(answer.usage!.total_tokens > 0);
  const { response } = await pair.through.chat.completions
    .create({ model: 'sim-gpt', messages: ask('Hello!') })
    .withResponse();
  assert.ok(response.headers.get('x-request-id'));
});

test('a streamed answer is equal, chunk by chunk', async () => {
  const chunks = await pair.same(async (client) =>
    collect(await client.chat.completions.create({ model: 'sim-gpt', messages: ask('Count to ten.'), stream: true })),
  );
  assert.ok(chunks.length > 3);
  assert.equal(chunks.at(-1)!.choices[0].finish_reason, 'stop');
  for (const chunk of chunks) assert.equal(chunk.usage, undefined, 'usage was not asked for');
});

test('a stream whose fields are indented, which the SDK does not read, is read through the gateway', async () => {
  const text = async (client: OpenAI, model: string): Promise<string> => {
    const stream = await client.chat.completions.create({ model, messages: ask('Count to ten.'), stream: true });
    return (await collect(stream)).map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  };
  const expected = await text(pair.through, 'sim-gpt');
  assert.ok(expected.length > 10);
  assert.equal(await text(pair.through, 'indented'), expected);
  assert.equal(await text(pair.direct, 'sim-gpt+fault=leading_space'), '', 'what it is about');
});

test('usage in the stream is there when it was asked for', async () => {
  const chunks = await pair.same(async (client) =>
    collect(
      await client.chat.completions.create({
        model: 'sim-gpt',
        messages: ask('Count to ten.'),
        stream: true,
        stream_options: { include_usage: true },
      }),
    ),
  );
  assert.ok(chunks.at(-1)!.usage!.total_tokens > 0);
  assert.deepEqual(chunks.at(-1)!.choices, []);
});

test('the streaming helper assembles the same message', async () => {
  const message = await pair.same((client) =>
    client.chat.completions.stream({ model: 'sim-gpt', messages: ask('Assemble me.') }).finalMessage(),
  );
  assert.ok(message.content);
});

test('parallel tool calls are equal', async () => {
  const answer = await pair.same((client) =>
    client.chat.completions.create({
      model: 'sim-gpt', messages: ask('Weather and time in Paris?'), tools, parallel_tool_calls: true,
    }),
  );
  const calls = answer.choices[0].message.tool_calls!;
  assert.equal(calls.length, 2);
  for (const call of calls) assert.ok(call.type === 'function' && JSON.parse(call.function.arguments).city);
  assert.equal(answer.choices[0].finish_reason, 'tool_calls');
});

test('streamed parallel tool calls are equal', async () => {
  const message = await pair.same((client) =>
    client.chat.completions
      .stream({ model: 'sim-gpt', messages: ask('Weather and time in Paris?'), tools })
      .finalMessage(),
  );
  assert.equal(message.tool_calls!.length, 2);
});

test('tool results go back and are answered', async () => {
  const answer = await pair.same(async (client) => {
    const messages = ask('Weather in Paris?');
    const first = await client.chat.completions.create({ model: 'sim-gpt', messages, tools: tools.slice(0, 1) });
    const call = first.choices[0].message;
    return await client.chat.completions.create({
      model: 'sim-gpt',
      messages: [...messages, call, { role: 'tool', tool_call_id: call.tool_calls![0].id, content: 'sunny, 21 °C' }],
      tools: tools.slice(0, 1),
    });
  });
  assert.match(answer.choices[0].message.content!, /sunny/);
});

test('an image in the prompt reaches the model', async () => {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const answer = await pair.same((client) =>
    client.chat.completions.create({
      model: 'sim-vision',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}`, detail: 'low' } },
          ],
        },
      ],
    }),
  );
  assert.match(answer.choices[0].message.content!, /image\/png/);
});

test('a JSON schema is kept to', async () => {
  const Person = z.object({ name: z.string(), age: z.number(), tags: z.array(z.string()) });
  const answer = await pair.same((client) =>
    client.chat.completions.parse({
      model: 'sim-gpt',
      messages: ask('A person, please.'),
      response_format: zodResponseFormat(Person, 'person'),
    }),
  );
  assert.ok(Person.safeParse(answer.choices[0].message.parsed).success);
});

test('reasoning is passed on', async () => {
  const answer = await pair.same((client) =>
    client.chat.completions.create({ model: 'sim-reasoner', messages: ask('Think.') }),
  );
  const message = answer.choices[0].message as { reasoning_content?: string };
  assert.ok(message.reasoning_content);
  const chunks = await pair.same(async (client) =>
    collect(await client.chat.completions.create({ model: 'sim-reasoner', messages: ask('Think.'), stream: true })),
  );
  const streamed = chunks.map((chunk) => (chunk.choices[0]?.delta as { reasoning_content?: string })?.reasoning_content ?? '');
  assert.equal(streamed.join(''), message.reasoning_content);
});

test('log probabilities are passed on', async () => {
  const answer = await pair.same((client) =>
    client.chat.completions.create({ model: 'sim-gpt', messages: ask('Sure?'), logprobs: true, top_logprobs: 2 }),
  );
  assert.ok(answer.choices[0].logprobs!.content!.length > 0);
});

test('several choices are equal', async () => {
  const answer = await pair.same((client) =>
    client.chat.completions.create({ model: 'sim-gpt', messages: ask('Twice.'), n: 2 }),
  );
  assert.equal(answer.choices.length, 2);
});

test('a field that nobody knows reaches the provider, and a long prompt too', async () => {
  await pair.same((client) =>
    client.chat.completions.create({
      model: 'sim-gpt', messages: ask('x'.repeat(400_000)), future_field: { deep: [1, 2.5e300, null] },
    } as never),
  );
});
