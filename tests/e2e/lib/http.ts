// Plain HTTP clients that show what sockets do: each request has a connection of its own, which can be cut.
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { clientKey, heard, promptCanary } from './secrets.ts';

export interface Asked {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

export interface How {
  method?: string;
  body?: string | Buffer;
  headers?: http.OutgoingHttpHeaders;
  ca?: string;
}

function request(url: string, how: How): http.ClientRequest {
  const made = (url.startsWith('https') ? https : http).request(url, {
    method: how.method ?? (how.body === undefined ? 'GET' : 'POST'),
    headers: { ...(how.body === undefined ? {} : { 'content-length': Buffer.byteLength(how.body) }), ...how.headers },
    agent: false,
    ca: how.ca,
  });
  return made;
}

export async function ask(url: string, how: How = {}): Promise<Asked> {
  return await new Promise((done, failed) => {
    let answered = false;
    const made = request(url, how);
    made.on('response', (response) => {
      answered = true;
      const pieces: Buffer[] = [];
      response.on('data', (piece) => pieces.push(piece));
      response.on('error', failed);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        const status = response.statusCode!;
        if (status >= 400) heard(`the body of a ${status}`, text + JSON.stringify(response.headers));
        done({ status, headers: response.headers, text });
      });
    });
    // A server that answers early may reset the rest of the body; the answer counts.
    made.on('error', (error) => answered || failed(error));
    made.end(how.body);
  });
}

export function chatBody(model: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ model, messages: [{ role: 'user', content: `Hello ${promptCanary}` }], ...more });
}

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

export async function chat(
  baseURL: string,
  model: string,
  how: { key?: string; ca?: string; more?: Record<string, unknown> } = {},
): Promise<Asked & { json: any }> {
  const got = await ask(`${baseURL}/chat/completions`, {
    body: chatBody(model, how.more),
    headers: headersOf(how.key ?? clientKey),
    ca: how.ca,
  });
  return { ...got, json: got.text.startsWith('{') ? JSON.parse(got.text) : undefined };
}

// A request that somebody may walk away from.
export class Running {
  status = 0;
  headers: http.IncomingHttpHeaders = {};
  text = '';
  // How it ended: undefined while it runs.
  end?: 'complete' | 'cut';
  socket?: Socket;
  readonly ended: Promise<void>;
  private readonly made: http.ClientRequest;
  private readonly watchers = new Set<() => void>();

  constructor(baseURL: string, model: string, more: Record<string, unknown> = {}, how: { key?: string; ca?: string; body?: string } = {}) {
    const body = how.body ?? chatBody(model, more);
    this.made = request(`${baseURL}/chat/completions`, { body, headers: headersOf(how.key ?? clientKey), ca: how.ca });
    this.ended = new Promise((done) => {
      const finish = (end: 'complete' | 'cut') => {
        this.end ??= end;
        this.look();
        done();
      };
      this.made.on('socket', (socket) => (this.socket = socket));
      this.made.on('error', () => finish('cut'));
      this.made.on('response', (response) => {
        this.status = response.statusCode!;
        this.headers = response.headers;
        response.setEncoding('utf8');
        response.on('data', (text) => {
          this.text += text;
          this.look();
        });
        response.on('end', () => finish(response.complete ? 'complete' : 'cut'));
        response.on('error', () => finish('cut'));
        this.look();
      });
    });
    this.made.end(body);
  }

  // Until this much has come: a number of events, or the head alone (0).
  async events(count: number): Promise<void> {
    await new Promise<void>((done, failed) => {
      const look = () => {
        if (this.status !== 0 && (count === 0 || this.eventCount() >= count)) done();
        else if (this.end) failed(new Error(`${this.status}, ${this.end}: ${this.text.slice(0, 500)}`));
        else return;
        this.watchers.delete(look);
      };
      this.watchers.add(look);
      look();
    });
  }
  eventCount(): number {
    return this.text.split('\n\n').length - 1;
  }
  // Joined contents of the events.
  content(): string {
    return this.text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? '')
      .join('');
  }
  get done(): boolean {
    return this.text.endsWith('data: [DONE]\n\n');
  }

  // The two ways in which a client goes. A FIN alone leaves it able to read, but the gateway takes it for gone.
  leave(how: 'RST' | 'FIN'): void {
    if (how === 'RST') this.socket!.resetAndDestroy();
    else this.socket!.end();
  }
  // For the end of a test: whatever is left of it.
  close(): void {
    this.made.destroy();
  }

  private look(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}
