// The vendors' own SDKs at the gateway, whose providers all speak other dialects than they do: text, streams, and a
// loop with a tool, at each of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, Type, type Content } from '@google/genai';
import OpenAI from 'openai';
import { startPair, type Pair } from '../lib/pair.ts';

const aws = { more: ', region: eu-central-1', credential: 'AKIAEXAMPLE000000001:secret/of+the+tests' };
const providers = [
  { name: 'at-chat', kind: 'zhipu', upstream: 'sim-gpt' },
  { name: 'at-openai', kind: 'openai', upstream: 'sim-gpt' },
  { name: 'at-anthropic', kind: 'anthropic', upstream: 'sim-claude' },
  { name: 'at-gemini', kind: 'gemini', path: '/v1beta', upstream: 'sim-gemini' },
  { name: 'at-gemini-3', kind: 'gemini', path: '/v1beta', upstream: 'sim-gemini-3' },
  { name: 'at-bedrock', kind: 'bedrock', path: '', upstream: 'anthropic.sim-claude-v1:0', ...aws },
  { name: 'at-bedrock-claude', kind: 'bedrock_anthropic', path: '', upstream: 'anthropic.sim-claude-v1:0', ...aws },
  { name: 'at-cohere', kind: 'cohere', path: '/v2', upstream: 'sim-command' },
  { name: 'at-ollama', kind: 'ollama_native', path: '', upstream: 'sim-llama' },
];

let pair: Pair;
let openai: OpenAI;
let anthropic: Anthropic;
let google: GoogleGenAI;
before(async () => {
  pair = await startPair(providers);
  const root = pair.gateway.baseURL.replace(/\/v1$/, '');
  const { apiKey } = pair.gateway;
  openai = pair.through;
  anthropic = new Anthropic({ baseURL: root, apiKey, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: root } });
});
after(() => pair.stop());

const question = 'What is the weather in Paris?';
const schema = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };

// What a client heard: the text, and the calls with their arguments.
interface Heard {
  text: string;
  calls: { name: string; city: unknown }[];
}
const parsed = (text: string): unknown => (JSON.parse(text) as { city: unknown }).city;

interface Client {
  name: string;
  // One step: the history is the client's own.
  ask(model: string, history: unknown[], stream: boolean, tools: boolean): Promise<{ heard: Heard; history: unknown[] }>;
  first(): unknown[];
}

const clients: Client[] = [
  {
    name: 'openai chat',
    first: () => [{ role: 'user', content: question }],
    async ask(model, history, stream, tools) {
      const request = {
        model,
        max_tokens: 300,
        messages: history as OpenAI.ChatCompletionMessageParam[],
        ...(tools && { tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters: schema } }] }),
      };
      const completion = stream
        ? await openai.chat.completions.stream(request).finalChatCompletion()
        : await openai.chat.completions.create(request);
      const { message } = completion.choices[0];
      const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
      return {
        heard: {
          text: message.content ?? '',
          calls: calls.map((call) => ({ name: call.function.name, city: parsed(call.function.arguments) })),
        },
        history: [
          ...history,
          message,
          ...calls.map((call) => ({ role: 'tool', tool_call_id: call.id, content: '21 degrees' })),
        ],
      };
    },
  },
  {
    name: 'openai responses',
    first: () => [{ role: 'user', content: question }],
    async ask(model, history, stream, tools) {
      const request = {
        model,
        store: false,
        max_output_tokens: 300,
        input: history as OpenAI.Responses.ResponseInput,
        ...(tools && { tools: [{ type: 'function' as const, name: 'get_weather', parameters: schema, strict: false }] }),
      };
      const response = stream
        ? await openai.responses.stream(request).finalResponse()
        : await openai.responses.create(request);
      const calls = response.output.filter((item) => item.type === 'function_call');
      return {
        heard: {
          text: response.output_text,
          calls: calls.map((call) => ({ name: call.name, city: parsed(call.arguments) })),
        },
        history: [
          ...history,
          ...response.output,
          ...calls.map((call) => ({ type: 'function_call_output', call_id: call.call_id, output: '21 degrees' })),
        ],
      };
    },
  },
  {
    name: 'anthropic',
    first: () => [{ role: 'user', content: question }],
    async ask(model, history, stream, tools) {
      const request = {
        model,
        max_tokens: 300,
        messages: history as Anthropic.MessageParam[],
        ...(tools && { tools: [{ name: 'get_weather', input_schema: schema }] }),
      };
      const message = stream
        ? await anthropic.messages.stream(request).finalMessage()
        : await anthropic.messages.create(request);
      const calls = message.content.filter((block) => block.type === 'tool_use');
      const texts = message.content.filter((block) => block.type === 'text');
      return {
        heard: {
          text: texts.map((block) => block.text).join(''),
          calls: calls.map((call) => ({ name: call.name, city: (call.input as { city: unknown }).city })),
        },
        history: [
          ...history,
          { role: 'assistant', content: message.content },
          {
            role: 'user',
            content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: '21 degrees' })),
          },
        ],
      };
    },
  },
  {
    name: 'google',
    first: () => [{ role: 'user', parts: [{ text: question }] }],
    async ask(model, history, stream, tools) {
      const request = {
        model,
        contents: history as Content[],
        config: {
          maxOutputTokens: 300,
          ...(tools && {
            tools: [
              {
                functionDeclarations: [
                  {
                    name: 'get_weather',
                    description: 'of a city',
                    parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
                  },
                ],
              },
            ],
          }),
        },
      };
      const parts = [];
      if (stream) {
        for await (const chunk of await google.models.generateContentStream(request)) {
          parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
        }
      } else {
        parts.push(...((await google.models.generateContent(request)).candidates![0].content!.parts ?? []));
      }
      const calls = parts.filter((part) => part.functionCall);
      return {
        heard: {
          text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''),
          calls: calls.map((part) => ({ name: part.functionCall!.name!, city: part.functionCall!.args!.city })),
        },
        history: [
          ...history,
          { role: 'model', parts },
          {
            role: 'user',
            parts: calls.map(({ functionCall }) => ({
              functionResponse: { id: functionCall!.id, name: functionCall!.name, response: { output: '21 degrees' } },
            })),
          },
        ],
      };
    },
  },
];

for (const client of clients) {
  for (const provider of providers) {
    test(`${client.name} ${provider.name}`, async () => {
      const whole = await client.ask(provider.name, client.first(), false, false);
      assert.ok(whole.heard.text.length > 10);
      const streamed = await client.ask(provider.name, client.first(), true, false);
      assert.equal(streamed.heard.text, whole.heard.text);
      for (const stream of [false, true]) {
        const step = await client.ask(provider.name, client.first(), stream, true);
        assert.equal(step.heard.calls.length, 1);
        assert.equal(step.heard.calls[0].name, 'get_weather');
        assert.equal(typeof step.heard.calls[0].city, 'string');
        const last = await client.ask(provider.name, step.history, stream, true);
        assert.equal(last.heard.calls.length, 0);
        assert.ok(last.heard.text.includes('21 degrees'), last.heard.text);
      }
    });
  }
}
