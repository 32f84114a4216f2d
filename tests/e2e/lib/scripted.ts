// A provider of few words, for endpoints that the simulated provider does not have: it answers what it is told
// to, and remembers what it was asked.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}
export type Answer = (seen: Seen, response: ServerResponse) => void;

export interface Scripted {
  baseURL: string;
  seen: Seen[];
  stop(): Promise<void>;
}

export async function scriptedProvider(answer: Answer): Promise<Scripted> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      seen.push({ path: request.url!, headers: request.headers, body: Buffer.concat(pieces) });
      answer(seen.at(-1)!, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
