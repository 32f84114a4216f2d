// An HTTP proxy for CONNECT, as small as can be: asks for a password, remembers who was asked for, and fails as it
// is told.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export const proxyUser = 'gateway';
export const proxyPassword = 'canary-proxy-password-61cc';

// What becomes of a request for a tunnel to a port: made (undefined), answered with a status, closed, left waiting.
export type Whim = undefined | number | 'close' | 'reset' | 'stall' | 'junk';

export interface Proxy {
  port: number;
  asked: string[]; // authorities, in order
  unauthorized: () => number;
  whims: Map<number, Whim>;
  stop(): Promise<void>;
}

export async function startProxy(): Promise<Proxy> {
  const asked: string[] = [];
  const whims = new Map<number, Whim>();
  const open = new Set<Socket>();
  let unauthorized = 0;
  const expected = `Basic ${Buffer.from(`${proxyUser}:${proxyPassword}`).toString('base64')}`;
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
  });
  server.on('connect', (request, client: Socket, first: Buffer) => {
    asked.push(request.url!);
    if (request.headers['proxy-authorization'] !== expected) {
      unauthorized += 1;
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="p"\r\n\r\n');
      return;
    }
    const [, host, port] = request.url!.match(/^(.*):(\d+)$/)!;
    const whim = whims.get(Number(port));
    if (typeof whim === 'number') client.end(`HTTP/1.1 ${whim} No\r\ncontent-length: 0\r\n\r\n`);
    else if (whim === 'close') client.end();
    else if (whim === 'reset') client.resetAndDestroy();
    else if (whim === 'junk') client.end('what?\r\n\r\n');
    else if (whim !== 'stall') {
      const upstream = connect(Number(port), host, () => {
        client.write('HTTP/1.1 200 Connection established\r\nvia: 1.1 p\r\n\r\n');
        if (first.length) upstream.write(first);
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('close', () => upstream.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    unauthorized: () => unauthorized,
    whims,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
