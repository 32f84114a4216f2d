// Forms with the official SDK: transcripts in each of their shapes, and edited images.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { collect } from '../lib/pair.ts';
import { configuration, finish, Rig } from '../lib/rig.ts';
import { scriptedProvider, type Scripted, type Seen } from '../lib/scripted.ts';
import { clientKey } from '../lib/secrets.ts';

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 11 + (i >> 8)) & 0xff));
const usage = { type: 'tokens', input_tokens: 14, output_tokens: 5, total_tokens: 19 };

// As a server reads it, with a reader that is not ours.
async function fieldsOf(seen: Seen): Promise<FormData> {
  return await new Response(new Uint8Array(seen.body), { headers: { 'content-type': seen.headers['content-type']! } }).formData();
}

let provider: Scripted;
let rig: Rig;
let client: OpenAI;
before(async () => {
  provider = await scriptedProvider(async (seen, response) => {
    const fields = await fieldsOf(seen);
    if (seen.path.endsWith('/images/edits')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ created: 1, data: [{ b64_json: 'AAAA' }] }));
    } else if (fields.get('stream') === 'true') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"type":"transcript.text.delta","delta":"a bridge"}\n\n');
      response.end(`data: ${JSON.stringify({ type: 'transcript.text.done', text: 'a bridge', usage })}\n\n`);
    } else if (fields.get('response_format') === 'srt') {
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.end('1\n00:00:00,000 --> 00:00:01,000\na bridge\n');
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ text: 'a bridge', usage }));
    }
  });
  rig = await Rig.start(configuration([{ name: 'ears', upstream: 'real-ears', base_url: provider.baseURL }]));
  client = new OpenAI({ baseURL: rig.baseURL, apiKey: clientKey, maxRetries: 0 });
});
after(() => finish(provider));

const file = () => toFile(bytes, 'a bridge "of" magpies é.wav', { type: 'audio/wav' });

test('a transcript is an object, and the provider has the file', async () => {
  const answer = await client.audio.transcriptions.create({ model: 'ears', file: await file() });
  assert.equal(answer.text, 'a bridge');
  const fields = await fieldsOf(provider.seen.at(-1)!);
  assert.equal(fields.get('model'), 'real-ears');
  assert.ok(Buffer.from(await (fields.get('file') as File).arrayBuffer()).equals(bytes));
});

test('a transcript is a text', async () => {
  const text = await client.audio.transcriptions.create({ model: 'ears', file: await file(), response_format: 'srt' });
  assert.match(text as unknown as string, /--> 00:00:01,000\na bridge\n$/);
});

test('a transcript is a stream', async () => {
  const events = await collect(
    await client.audio.transcriptions.create({ model: 'ears', file: await file(), stream: true }),
  );
  assert.deepEqual(events.map((event) => event.type), ['transcript.text.delta', 'transcript.text.done']);
});

test('a translation is an object', async () => {
  const answer = await client.audio.translations.create({ model: 'ears', file: await file() });
  assert.equal(answer.text, 'a bridge');
});

test('images are edited, several at once', async () => {
  const image = async () => toFile(bytes, 'a.png', { type: 'image/png' });
  const answer = await client.images.edit({ model: 'ears', prompt: 'a bridge', image: [await image(), await image()] });
  assert.equal(answer.data![0].b64_json, 'AAAA');
  const fields = await fieldsOf(provider.seen.at(-1)!);
  assert.equal(fields.getAll('image[]').length, 2);
  assert.equal(fields.get('model'), 'real-ears');
});

test('a form without a model names the field', async () => {
  await assert.rejects(
    client.audio.transcriptions.create({ file: await file() } as OpenAI.Audio.TranscriptionCreateParamsNonStreaming),
    (error: InstanceType<typeof OpenAI.BadRequestError>) => error.status === 400 && error.param === 'model',
  );
});
