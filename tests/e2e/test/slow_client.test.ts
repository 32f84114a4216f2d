// Clients at the end of a slow line: what the kernel's buffers, which are large, do to timers and to a close.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { chatBody } from '../lib/http.ts';
import { configuration, finish, pause, Rig, Simulator, until } from '../lib/rig.ts';
import { clientKey } from '../lib/secrets.ts';
import { Certificates } from '../lib/tls.ts';

const certificates = new Certificates();
after(() => finish(certificates));

function request(model: string, more: Record<string, unknown>, connection: string): string {
  const body = chatBody(model, more);
  return (
    `POST /v1/chat/completions HTTP/1.1\r\nhost: here\r\nauthorization: Bearer ${clientKey}\r\n` +
    `connection: ${connection}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

// Reads nothing until it is told to, then everything or a little at a time.
class Reader {
  text = '';
  end?: 'FIN' | 'cut';
  private readonly socket: Socket;
  private bytesPerSecond = Infinity;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => (this.end ??= 'cut'));
    socket.on('end', () => (this.end ??= 'FIN'));
    socket.on('close', () => (this.end ??= 'cut'));
  }
  static async to(rig: Rig, ca?: string): Promise<Reader> {
    const socket = ca ? connectTls({ port: rig.port, host: '127.0.0.1', ca }) : connect(rig.port, '127.0.0.1');
    const reader = new Reader(socket);
    await once(socket, ca ? 'secureConnect' : 'connect');
    return reader;
  }
  say(bytes: string): void {
    this.socket.write(bytes);
  }
  read(bytesPerSecond = Infinity): void {
    this.bytesPerSecond = bytesPerSecond;
    if (this.socket.listenerCount('data') > 0) return;
    this.socket.on('data', (data) => {
      this.text += data.toString('latin1');
      if (this.bytesPerSecond === Infinity) return;
      this.socket.pause();
      setTimeout(() => this.socket.resume(), (data.length / this.bytesPerSecond) * 1_000);
    });
  }
  leave(): void {
    this.socket.destroy();
  }
}

test('who reads steadily gets the whole stream, though the send buffer has room again only after a stall', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(
    configuration([{ name: 'long', upstream: 'sim-gpt+words=60000', base_url: simulator.baseURL }], {
      timers: { client_write_stall: '2s' },
    }),
  );
  const reader = await Reader.to(rig);
  reader.say(request('long', { stream: true }, 'keep-alive'));
  reader.read(300_000);
  await pause(7_000);
  assert.equal(reader.end, undefined, reader.text.slice(-300));
  assert.deepEqual(rig.logged('request'), [], 'it still runs');
  reader.read();
  await until('all of it', () => reader.text.endsWith('0\r\n\r\n'), 30_000);
  assert.match(reader.text.slice(-60), /data: \[DONE\]/);
  reader.leave();
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('who reads nothing is still cut', async () => {
  const simulator = await Simulator.start();
  const rig = await Rig.start(
    configuration([{ name: 'long', upstream: 'sim-gpt+words=60000', base_url: simulator.baseURL }], {
      timers: { client_write_stall: '1s' },
    }),
  );
  const reader = await Reader.to(rig);
  reader.say(request('long', { stream: true }, 'keep-alive'));
  await until('it is cut', () => rig.logged('request').length === 1);
  assert.equal(rig.logged('request')[0].error, 'client_stalled');
  reader.leave();
  assert.equal(await rig.stop(), 0);
  await simulator.stop();
});

test('a last answer arrives whole, whatever the client sends behind its request', async () => {
  const simulator = await Simulator.start();
  const pair = certificates.signed('slow', 'IP:127.0.0.1');
  for (const tls of [undefined, { certificate: pair.certificate, key: pair.key }]) {
    const rig = await Rig.start(
      configuration([{ name: 'large', upstream: 'sim-gpt+words=50000', base_url: simulator.baseURL }], {
        listeners: [{ address: '127.0.0.1:0', serve: ['api'], ...(tls ? { tls } : {}) }],
      }),
    );
    let served = 0;
    for (const more of ['', '\r\n', 'z'.repeat(1_000_000)]) {
      const reader = await Reader.to(rig, tls && readFileSync(certificates.caFile, 'utf8'));
      reader.say(request('large', {}, 'close'));
      await until('the gateway is done with it', () => rig.logged('request').length > served);
      served += 1;
      await pause(300);
      reader.say(more);
      await pause(300);
      reader.read();
      await until('the end', () => reader.end);
      const what = `${tls ? 'TLS' : 'plain'}, ${more.length} bytes more`;
      assert.equal(reader.end, 'FIN', what);
      const length = Number(reader.text.match(/content-length: (\d+)/)![1]);
      assert.equal(reader.text.length - reader.text.indexOf('\r\n\r\n') - 4, length, what);
      assert.ok(length > 250_000, `${length} is more than a receive buffer`);
      reader.leave();
    }
    assert.equal(await rig.stop(), 0);
  }
  await simulator.stop();
});
