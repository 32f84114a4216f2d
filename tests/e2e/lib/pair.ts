// Two clients of the official SDK: one straight to the simulated provider, one through the gateway. What they
// yield must be equal.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { startGateway, startSimulator, type Gateway, type Model, type Program } from './programs.ts';

export interface Pair {
  direct: OpenAI;
  through: OpenAI;
  gateway: Gateway;
  stop(): Promise<void>;
  // Runs the same calls on both, asserts that what they return is equal, and returns what came through.
  same<T>(calls: (client: OpenAI) => Promise<T>): Promise<T>;
}

export async function startPair(models: Model[]): Promise<Pair> {
  const simulator: { program: Program; baseURL: string } = await startSimulator();
  const gateway = await startGateway(simulator.baseURL, models);
  const direct = new OpenAI({ baseURL: simulator.baseURL, apiKey: 'sk-simulated', maxRetries: 0 });
  const through = new OpenAI({ baseURL: gateway.baseURL, apiKey: gateway.apiKey, maxRetries: 0 });
  return {
    direct,
    through,
    gateway,
    async stop() {
      assert.equal(await gateway.stop(), 0, 'the gateway ends cleanly');
      assert.equal(await simulator.program.stop(), 0, 'the simulator ends cleanly');
    },
    async same(calls) {
      const expected = await calls(direct);
      const got = await calls(through);
      assert.deepEqual(plain(got), plain(expected));
      return got;
    },
  };
}

// Without what the SDK adds about the transport, such as the request id of the connection.
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner) => (key === '_request_id' ? undefined : inner)) ?? 'null',
  );
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
