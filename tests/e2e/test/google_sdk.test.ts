// Google's own SDK at the gateway, whose provider speaks OpenAI's chat dialect.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type, type Content } from '@google/genai';
import { collect, startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
let client: GoogleGenAI;
before(async () => {
  pair = await startPair([
    { name: 'sim-gpt', about: ', context: 128k, can: [tools, vision]' },
    { name: 'sim-reasoner' },
    { name: 'limited', upstream: 'sim-gpt+fault=429+retry_after=7' },
    { name: 'cut', upstream: 'sim-gpt+fault=reset_mid_body+at=6+gap=5' },
  ]);
  client = new GoogleGenAI({
    apiKey: pair.gateway.apiKey,
    httpOptions: { baseUrl: pair.gateway.baseURL.replace(/\/v1$/, '') },
  });
});
after(() => pair.stop());

const declarations = ['get_weather', 'get_time'].map((name) => ({
  name,
  description: 'of a city',
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
}));

test('an answer has the text and the usage that the provider gave', async () => {
  const answer = await client.models.generateContent({ model: 'sim-gpt', contents: 'Hello! 你好！ 🙂' });
  const direct = await pair.direct.chat.completions.create({
    model: 'sim-gpt',
    messages: [{ role: 'user', content: 'Hello! 你好！ 🙂' }],
  });
  assert.equal(answer.text, direct.choices[0].message.content);
  assert.equal(answer.candidates![0].finishReason, 'STOP');
  assert.equal(answer.usageMetadata!.candidatesTokenCount, direct.usage!.completion_tokens);
});

test('a stream adds up to the same text', async () => {
  const whole = await client.models.generateContent({ model: 'sim-gpt', contents: 'Count to ten.' });
  const chunks = await collect(await client.models.generateContentStream({ model: 'sim-gpt', contents: 'Count to ten.' }));
  assert.ok(chunks.length > 2);
  assert.equal(chunks.map((chunk) => chunk.text ?? '').join(''), whole.text);
  assert.equal(chunks.at(-1)!.candidates![0].finishReason, 'STOP');
});

for (const streamed of [false, true]) {
  test(`parallel tools and their results, ${streamed ? 'streamed' : 'whole'}`, async () => {
    const config = { tools: [{ functionDeclarations: declarations }] };
    const asked: Content[] = [{ role: 'user', parts: [{ text: 'Weather and time in Paris?' }] }];
    const request = { model: 'sim-gpt', contents: asked, config };
    const parts = streamed
      ? (await collect(await client.models.generateContentStream(request))).flatMap(
          (chunk) => chunk.candidates?.[0]?.content?.parts ?? [],
        )
      : (await client.models.generateContent(request)).candidates![0].content!.parts!;
    const calls = parts.filter((part) => part.functionCall);
    assert.deepEqual(calls.map((part) => part.functionCall!.name).sort(), ['get_time', 'get_weather']);
    for (const { functionCall } of calls) assert.equal(typeof functionCall!.args!.city, 'string');
    const second = await client.models.generateContent({
      model: 'sim-gpt',
      config,
      contents: [
        ...asked,
        { role: 'model', parts },
        {
          role: 'user',
          parts: calls.map(({ functionCall }) => ({
            functionResponse: { id: functionCall!.id, name: functionCall!.name, response: { output: 'fine' } },
          })),
        },
      ],
    });
    assert.ok(second.text);
  });
}

test('a forced call and a system instruction', async () => {
  const answer = await client.models.generateContent({
    model: 'sim-gpt',
    contents: 'Paris?',
    config: {
      systemInstruction: 'Be brief.',
      tools: [{ functionDeclarations: declarations }],
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['get_time'] } },
    },
  });
  assert.deepEqual(answer.functionCalls!.map((call) => call.name), ['get_time']);
});

test('thoughts are marked as such', async () => {
  const answer = await client.models.generateContent({
    model: 'sim-reasoner',
    contents: 'Why is the sky blue?',
    config: { thinkingConfig: { includeThoughts: true } },
  });
  const parts = answer.candidates![0].content!.parts!;
  assert.ok(parts.some((part) => part.thought && part.text));
  assert.ok(parts.some((part) => !part.thought && part.text));
});

test('a schema is kept', async () => {
  const answer = await client.models.generateContent({
    model: 'sim-gpt',
    contents: 'A city, please.',
    config: {
      responseMimeType: 'application/json',
      responseSchema: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
    },
  });
  assert.equal(typeof JSON.parse(answer.text!).city, 'string');
});

test('errors are the SDK\'s', async () => {
  await assert.rejects(
    client.models.generateContent({ model: 'nobody', contents: 'x' }),
    (error: unknown) => error instanceof ApiError && error.status === 404,
  );
  await assert.rejects(
    client.models.generateContent({ model: 'limited', contents: 'x' }),
    (error: unknown) => error instanceof ApiError && error.status === 429 && error.message.includes('RESOURCE_EXHAUSTED'),
  );
  const stranger = new GoogleGenAI({ apiKey: 'sk-wrong', httpOptions: { baseUrl: pair.gateway.baseURL.replace(/\/v1$/, '') } });
  await assert.rejects(
    stranger.models.generateContent({ model: 'sim-gpt', contents: 'x' }),
    (error: unknown) => error instanceof ApiError && error.status === 401,
  );
});

test('a stream that breaks raises, after what had come', async () => {
  let text = '';
  await assert.rejects(async () => {
    for await (const chunk of await client.models.generateContentStream({ model: 'cut', contents: 'Tell me something long.' })) {
      text += chunk.text ?? '';
    }
  });
  assert.ok(text.length > 0);
});

test('models are listed', async () => {
  const names: string[] = [];
  for await (const model of await client.models.list()) names.push(model.name!);
  assert.ok(names.includes('models/sim-gpt'), names.join());
  const one = await client.models.get({ model: 'sim-gpt' });
  assert.equal(one.inputTokenLimit, 128_000);
  assert.ok(one.supportedActions?.includes('generateContent'));
});
