// What goes wrong arrives as the SDK's own exceptions, with hints about when to try again; and what the gateway
// can hide from the client, it hides.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { collect, startPair, type Pair } from '../lib/pair.ts';

let pair: Pair;
before(async () => {
  pair = await startPair([
    { name: 'sim-gpt' },
    { name: 'limited', upstream: 'sim-gpt+status=429+retry_after=7' },
    { name: 'slow', upstream: 'sim-gpt+words=500+gap=5' },
    { name: 'broken', upstream: 'sim-gpt+status=500' },
    { name: 'forbidden', upstream: 'sim-gpt+status=403' },
    { name: 'unprocessable', upstream: 'sim-gpt+status=422' },
    { name: 'too-long', upstream: 'sim-gpt+fault=context_length' },
    { name: 'cut', upstream: 'sim-gpt+fault=reset_mid_body+at=4' },
    { name: 'says-error', upstream: 'sim-gpt+fault=error_middle+at=4' },
    { name: 'saved-from-503', upstream: 'sim-gpt+status=503', fallback: 'sim-gpt' },
    { name: 'saved-from-429', upstream: 'sim-gpt+status=429', fallback: 'sim-gpt' },
    { name: 'saved-from-reset', upstream: 'sim-gpt+fault=reset_before_head', fallback: 'sim-gpt' },
    { name: 'saved-from-html', upstream: 'sim-gpt+fault=html', fallback: 'sim-gpt' },
    { name: 'saved-from-empty', upstream: 'sim-gpt+fault=empty_role_only', fallback: 'sim-gpt' },
  ]);
});
after(() => pair.stop());

const messages = [{ role: 'user' as const, content: 'Hello!' }];
const chat = (model: string, client = pair.through) => client.chat.completions.create({ model, messages });

test('a wrong key is an AuthenticationError', async () => {
  const stranger = new OpenAI({ baseURL: pair.gateway.baseURL, apiKey: 'sk-wrong', maxRetries: 0 });
  await assert.rejects(chat('sim-gpt', stranger), (error) => {
    assert.ok(error instanceof OpenAI.AuthenticationError);
    assert.equal(error.status, 401);
    assert.ok(!error.message.includes('sk-wrong'), 'the key is not repeated');
    return true;
  });
});

test('an unknown model is a NotFoundError that names the field', async () => {
  await assert.rejects(chat('no-such-model'), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.param, 'model');
    assert.equal(error.code, 'model_not_found');
    return true;
  });
});

test('a bad request is a BadRequestError, worded by the provider or by us', async () => {
  await assert.rejects(
    pair.through.chat.completions.create({ model: 'sim-gpt', messages: [] }),
    (error) => error instanceof OpenAI.BadRequestError && error.param === 'messages',
  );
});

test('the provider\'s refusals keep their type', async () => {
  await assert.rejects(chat('unprocessable'), OpenAI.UnprocessableEntityError);
  await assert.rejects(chat('too-long'), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.code, 'context_length_exceeded');
    return true;
  });
});

test('a rate limit is a RateLimitError with a hint when to come back', async () => {
  await assert.rejects(chat('limited'), (error) => {
    assert.ok(error instanceof OpenAI.RateLimitError, String(error));
    const seconds = Number(error.headers!.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 7, `retry-after: ${seconds}`);
    return true;
  });
});

test('a provider that fails is an InternalServerError', async () => {
  await assert.rejects(chat('broken'), (error) => {
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.ok(error.status! >= 500);
    return true;
  });
});

for (const model of ['cut', 'says-error']) {
  test(`a stream that breaks off (${model}) throws after an exact prefix`, async () => {
    const whole = await collect(await pair.direct.chat.completions.create({ model: 'sim-gpt', messages, stream: true }));
    const text = (chunks: OpenAI.Chat.Completions.ChatCompletionChunk[]) =>
      chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    const got: OpenAI.Chat.Completions.ChatCompletionChunk[] = [];
    await assert.rejects(async () => {
      const stream = await pair.through.chat.completions.create({ model, messages, stream: true });
      for await (const chunk of stream) got.push(chunk);
    }, OpenAI.APIError);
    assert.ok(text(got).length > 0, 'content came before the break');
    assert.ok(text(whole).startsWith(text(got)));
  });
}

for (const cause of ['503', '429', 'reset', 'html', 'empty']) {
  test(`a client does not notice a fallback (${cause}), streamed or not`, async () => {
    const expected = await chat('sim-gpt', pair.direct);
    const { data, response } = await chat(`saved-from-${cause}`).withResponse();
    assert.equal(data.choices[0].message.content, expected.choices[0].message.content);
    assert.match(response.headers.get('x-queqiao-attempts') ?? '', /./);
    const chunks = await collect(
      await pair.through.chat.completions.create({ model: `saved-from-${cause}`, messages, stream: true }),
    );
    assert.equal(
      chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''),
      expected.choices[0].message.content,
    );
  });
}

test('an abort by the client ends its stream early and the gateway lives on', async () => {
  const aborting = new AbortController();
  let got = 0;
  const stream = await pair.through.chat.completions.create(
    { model: 'slow', messages, stream: true },
    { signal: aborting.signal },
  );
  for await (const chunk of stream) {
    got += chunk.choices.length;
    aborting.abort();
  }
  assert.ok(got > 0 && got < 100, `${got} chunks of 500`);
  assert.ok((await chat('sim-gpt')).choices.length);
  // The gateway notices, says so, and lets the provider go.
  await pair.gateway.program.line(pair.gateway.program.stderr, /"msg":"request".*"error":"client_gone"/);
});
