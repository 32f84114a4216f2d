// Tool calls whose pieces a chat provider mixes, or breaks off, with the SDKs of the other dialects.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { configuration, finish, Rig } from '../lib/rig.ts';
import { scriptedProvider, type Scripted } from '../lib/scripted.ts';
import { clientKey } from '../lib/secrets.ts';

const call = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] });
const begin = (index: number, name: string, args: string) =>
  call(index, { id: `call_${index}`, type: 'function', function: { name, arguments: args } });
const more = (index: number, args: string) => call(index, { function: { arguments: args } });
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

const mixed = [
  begin(0, 'get_weather', '{"city":'),
  begin(1, 'get_time', '{"city":"R'),
  more(0, '"Paris"'),
  more(1, 'ome"}'),
  more(0, '}'),
];
const cut = [begin(0, 'get_weather', '{"city":"Par')];
// By the end of the model's name.
const ends: Record<string, string> = { mixed: 'tool_calls', cut: 'tool_calls', limited: 'length' };

let provider: Scripted;
let rig: Rig;
let anthropic: Anthropic;
let openai: OpenAI;
before(async () => {
  provider = await scriptedProvider((seen, response) => {
    const model = JSON.parse(seen.body.toString()).model as string;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const delta of model === 'mixed' ? mixed : cut) response.write(chunk(delta));
    response.end(`${chunk({}, ends[model])}data: [DONE]\n\n`);
  });
  const sections = configuration(Object.keys(ends).map((name) => ({ name, base_url: provider.baseURL })));
  for (const each of sections.providers as { kind: string }[]) each.kind = 'zhipu';  // it has chat only
  rig = await Rig.start(sections);
  anthropic = new Anthropic({ baseURL: rig.baseURL.replace(/\/v1$/, ''), apiKey: clientKey, maxRetries: 0 });
  openai = new OpenAI({ baseURL: rig.baseURL, apiKey: clientKey, maxRetries: 0 });
});
after(() => finish(provider));

const question = { max_tokens: 400, messages: [{ role: 'user' as const, content: 'Weather and time?' }] };
const inputs = [{ city: 'Paris' }, { city: 'Rome' }];

test("Anthropic's SDK gets mixed calls as blocks one behind the other", async () => {
  const open: number[] = [];
  const stream = anthropic.messages.stream({ model: 'mixed', ...question });
  stream.on('streamEvent', (event) => {
    if (event.type === 'content_block_start') {
      assert.deepEqual(open, [], 'one at a time');
      open.push(event.index);
    }
    if (event.type === 'content_block_delta') assert.deepEqual(open, [event.index]);
    if (event.type === 'content_block_stop') assert.equal(open.pop(), event.index);
  });
  const message = await stream.finalMessage();
  assert.equal(message.stop_reason, 'tool_use');
  assert.deepEqual(message.content.map((block) => (block as Anthropic.ToolUseBlock).input), inputs);
});

test("OpenAI's SDK gets mixed calls as items", async () => {
  const stream = openai.responses.stream({ model: 'mixed', input: 'Weather and time?' });
  const response = await stream.finalResponse();
  const calls = response.output.filter((item) => item.type === 'function_call');
  assert.deepEqual(calls.map((item) => JSON.parse(item.arguments)), inputs);
});

test('a call that is broken off and told as whole is an error', async () => {
  await assert.rejects(anthropic.messages.stream({ model: 'cut', ...question }).finalMessage(), Anthropic.APIError);
});

test('a call that a limit broke off ends with that limit', async () => {
  const message = await anthropic.messages.stream({ model: 'limited', ...question }).finalMessage();
  assert.equal(message.stop_reason, 'max_tokens');
});
