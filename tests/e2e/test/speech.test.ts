// Speech with the official SDK: bytes, whole and while they are made.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { configuration, finish, Rig } from '../lib/rig.ts';
import { scriptedProvider, type Scripted } from '../lib/scripted.ts';
import { clientKey } from '../lib/secrets.ts';

const audio = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7 + (i >> 8)) & 0xff));

let provider: Scripted;
let rig: Rig;
let client: OpenAI;
before(async () => {
  provider = await scriptedProvider((seen, response) => {
    const asked = JSON.parse(seen.body.toString());
    if (asked.voice === 'nobody') {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no such voice","type":"invalid_request_error","param":"voice","code":null}}');
      return;
    }
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.end(audio);
  });
  rig = await Rig.start(configuration([{ name: 'tts', upstream: 'real-tts', base_url: provider.baseURL }]));
  client = new OpenAI({ baseURL: rig.baseURL, apiKey: clientKey, maxRetries: 0 });
});
after(() => finish(provider));

test('speech comes as the provider made it', async () => {
  const response = await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'A bridge of magpies.' });
  assert.equal(response.headers.get('content-type'), 'audio/mpeg');
  assert.ok(Buffer.from(await response.arrayBuffer()).equals(audio));
  const seen = provider.seen.at(-1)!;
  assert.equal(seen.path, '/v1/audio/speech');
  assert.equal(JSON.parse(seen.body.toString()).model, 'real-tts');
});

test('what the provider refuses is told in its words', async () => {
  await assert.rejects(
    client.audio.speech.create({ model: 'tts', voice: 'nobody' as 'alloy', input: 'x' }).then((r) => r.arrayBuffer()),
    (error: InstanceType<typeof OpenAI.BadRequestError>) => error.status === 400 && error.param === 'voice',
  );
});

test('a request without a model names the field', async () => {
  await assert.rejects(
    client.audio.speech.create({ voice: 'alloy', input: 'x' } as OpenAI.Audio.SpeechCreateParams),
    (error: InstanceType<typeof OpenAI.BadRequestError>) => error.status === 400 && error.param === 'model',
  );
});
