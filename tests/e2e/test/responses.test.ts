// The Responses API with the official SDK.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { collect, startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
before(async () => {
  pair = await startPair([{ name: 'sim-gpt' }, { name: 'sim-reasoner' }]);
});
after(() => pair.stop());

test('a response is equal', async () => {
  const response = await pair.same((client) =>
    client.responses.create({ model: 'sim-gpt', input: 'Hello! 你好！', instructions: 'Be brief.' }),
  );
  assert.equal(response.model, 'sim-gpt');
  assert.equal(response.status, 'completed');
  assert.ok(response.output_text);
  assert.ok(response.usage!.total_tokens > 0);
});

test('a streamed response is equal, event by event', async () => {
  const events = await pair.same(async (client) =>
    collect(await client.responses.create({ model: 'sim-gpt', input: 'Count to ten.', stream: true })),
  );
  assert.equal(events[0].type, 'response.created');
  assert.equal(events.at(-1)!.type, 'response.completed');
  assert.ok(events.some((event) => event.type === 'response.output_text.delta'));
});

test('function calls of a response are equal', async () => {
  const response = await pair.same((client) =>
    client.responses.create({
      model: 'sim-gpt',
      input: 'Weather in Paris?',
      tools: [
        {
          type: 'function',
          name: 'get_weather',
          strict: true,
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      ],
    }),
  );
  const call = response.output.find((item) => item.type === 'function_call');
  assert.ok(call && JSON.parse(call.arguments).city);
});

test('a JSON schema of a response is kept to', async () => {
  const Person = z.object({ name: z.string(), age: z.number() });
  const response = await pair.same((client) =>
    client.responses.parse({
      model: 'sim-gpt',
      input: 'A person, please.',
      text: { format: zodTextFormat(Person, 'person') },
    }),
  );
  assert.ok(Person.safeParse(response.output_parsed).success);
});

test('reasoning items of a response are equal', async () => {
  const response = await pair.same((client) =>
    client.responses.create({ model: 'sim-reasoner', input: 'Think.', reasoning: { summary: 'auto' } }),
  );
  assert.ok(response.output.some((item) => item.type === 'reasoning'));
});

test('an answer is kept, continued, read and deleted through the SDK', async () => {
  const first = await pair.through.responses.create({ model: 'sim-gpt', input: 'Tell me of the river Thames.' });
  const second = await pair.through.responses.create({
    model: 'sim-gpt',
    input: 'And the next?',
    previous_response_id: first.id,
  });
  assert.equal(second.previous_response_id, first.id);
  assert.equal((await pair.through.responses.retrieve(first.id)).id, first.id);
  const items = await pair.through.responses.inputItems.list(second.id, { order: 'asc' });
  assert.equal(items.data.length, 3, 'the first question, its answer, the second question');
  await pair.through.responses.delete(first.id);
  await assert.rejects(pair.through.responses.retrieve(first.id), OpenAI.NotFoundError);
  const conversation = await pair.through.conversations.create({ metadata: { of: 'tests' } });
  await pair.through.responses.create({ model: 'sim-gpt', input: 'Hello.', conversation: conversation.id });
  const said = await pair.through.conversations.items.list(conversation.id, { order: 'asc' });
  assert.equal(said.data.length, 2);
});
