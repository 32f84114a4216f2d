// Upstreams that are no upstreams: one that a connection never reaches, one that never speaks.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Hole {
  port: number;
  stop(): Promise<void>;
}

// A listener with a full backlog: its process is stopped, so nobody accepts, and the kernel drops every further
// SYN. Connecting takes until the caller's patience ends.
export async function blackHole(): Promise<Hole> {
  const program = `require('net').createServer().listen({host: '127.0.0.1', port: 0, backlog: 1}, function () {
    console.log(this.address().port);
  })`;
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout!, 'data');
  const port = Number(String(said).trim());
  child.kill('SIGSTOP');
  process.on('exit', () => child.kill('SIGKILL'));
  const fillers: Socket[] = [];
  const stop = async () => {
    for (const filler of fillers) filler.destroy();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  // Until one does not get through: the backlog's real size is the kernel's affair.
  for (let i = 0; i < 16; i += 1) {
    const filler = connect(port, '127.0.0.1');
    filler.on('error', () => {});
    fillers.push(filler);
    const through = await Promise.race([
      once(filler, 'connect').then(() => true),
      new Promise<boolean>((done) => setTimeout(() => done(false), 250)),
    ]);
    if (!through) return { port, stop };
  }
  await stop();
  throw new Error('the backlog does not fill');
}

// Accepts and says nothing; reads nothing either, so that a large request gets stuck on its way.
export async function mute(): Promise<Hole & { accepted(): number }> {
  const sockets: Socket[] = [];
  const server: Server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => sockets.length,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
