// The gateway as its configuration makes it, for tests of what a process does on real sockets: any configuration,
// its file in a folder of its own, and what it says is kept for the search for secrets (`secrets.ts`).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program, binary } from './programs.ts';
import { assertSecretsKept, clientKey, heard, listenTo, pepper, upstreamKey } from './secrets.ts';
import { ask } from './http.ts';

export interface Target {
  name: string; // what clients ask for
  upstream?: string; // what the provider is asked for
  base_url: string;
  fallback?: string; // another target's name
  private?: boolean; // allow_private_address; true unless said otherwise
}

// Sections of the configuration beside the ones that `targets` make. JSON is YAML, so it is written as it stands.
export type Sections = Record<string, unknown>;

// `queqiao keys hash`.
export function hashOf(key: string): string {
  const done = spawnSync(binary, ['keys', 'hash'], {
    input: `${key}\n`,
    env: { ...process.env, QUEQIAO_KEY_PEPPER: pepper },
    encoding: 'utf8',
  });
  const hash = done.stdout.match(/hmac-sha256:[0-9a-f]{64}/)?.[0];
  if (!hash) throw new Error(`keys hash: ${done.stdout}${done.stderr}`);
  return hash;
}

export function configuration(targets: Target[], sections: Sections = {}): Sections {
  return {
    workers: 2,
    listeners: [{ address: '127.0.0.1:0', serve: ['api', 'metrics'] }],
    key_pepper: '${QUEQIAO_KEY_PEPPER}',
    providers: targets.map((target) => ({
      name: `at-${target.name}`,
      kind: 'openai_compatible',
      base_url: target.base_url,
      allow_private_address: target.private ?? true,
      accounts: [{ name: 'main', credential: upstreamKey }],
    })),
    models: targets.map((target) => ({
      name: target.fallback ? `${target.name}-first` : target.name,
      provider: `at-${target.name}`,
      upstream_name: target.upstream ?? target.name,
    })),
    routes: targets
      .filter((target) => target.fallback)
      .map((target) => ({
        name: target.name,
        candidates: [{ model: `${target.name}-first` }],
        fallback: [{ model: target.fallback }],
      })),
    keys: [{ name: 'tests', hash: hashOf(clientKey), owner: 'tests' }],
    ...sections,
  };
}

export class Rig {
  readonly program: Program;
  readonly folder: string;
  readonly file: string;
  address = '';
  scheme = 'http';

  private constructor(config: Sections, options: { descriptors?: number }) {
    this.folder = mkdtempSync(join(tmpdir(), 'queqiao-sockets-'));
    this.file = join(this.folder, 'queqiao.yaml');
    writeFileSync(this.file, JSON.stringify(config, null, 1));
    const env = { QUEQIAO_KEY_PEPPER: pepper };
    const args = ['serve', '--config', this.file];
    this.program =
      options.descriptors === undefined
        ? new Program(args, env)
        : new Program(['-c', `ulimit -n ${options.descriptors} && exec "$0" "$@"`, binary, ...args], env, 'sh');
    listenTo(this.program);
    started.push(this);
  }

  static async start(config: Sections, options: { descriptors?: number } = {}): Promise<Rig> {
    const rig = new Rig(config, options);
    const listening = await rig.program.line(rig.program.stderr, /"msg":"listening","address":"([^"]+)"/);
    rig.address = listening[1];
    if (JSON.stringify(config.listeners).includes('"tls"')) rig.scheme = 'https';
    return rig;
  }

  get pid(): number {
    return this.program.child.pid!;
  }
  get port(): number {
    return Number(this.address.split(':')[1]);
  }
  get root(): string {
    return `${this.scheme}://${this.address}`;
  }
  get baseURL(): string {
    return `${this.root}/v1`;
  }

  // The lines of the log with this "msg".
  logged(msg: string): Record<string, any>[] {
    return this.program.stderr
      .filter((line) => line.includes(`"msg":"${msg}"`))
      .map((line) => JSON.parse(line));
  }

  // Replaces the file as careful programs do, by a rename.
  replaceFile(config: Sections | string): void {
    const next = join(this.folder, 'next');
    writeFileSync(next, typeof config === 'string' ? config : JSON.stringify(config, null, 1));
    renameSync(next, this.file);
  }
  writeFile(config: Sections | string): void {
    writeFileSync(this.file, typeof config === 'string' ? config : JSON.stringify(config, null, 1));
  }

  // The sum of a metric over its labels.
  async metric(name: string, ca?: string): Promise<number> {
    const { text } = await ask(`${this.root}/metrics`, { ca });
    heard('/metrics', text);
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }
  residentKiB(): number {
    return Number(readFileSync(`/proc/${this.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)![1]);
  }

  // How many of its sockets lead to `port` of the loopback, whatever their state: what the kernel still winds
  // down is no longer the process's.
  socketsTo(port: number): number {
    const own = new Set<string>();
    for (const fd of readdirSync(`/proc/${this.pid}/fd`)) {
      try {
        const inode = readlinkSync(`/proc/${this.pid}/fd/${fd}`).match(/^socket:\[(\d+)\]$/)?.[1];
        if (inode) own.add(inode);
      } catch {
        // closed meanwhile
      }
    }
    const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    return readFileSync(`/proc/${this.pid}/net/tcp`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[2]?.endsWith(remote) && own.has(columns[9])).length;
  }

  async stop(): Promise<number | null> {
    const code = await this.program.stop();
    rmSync(this.folder, { recursive: true, force: true });
    return code;
  }
}

export interface SimulatorStats {
  connections: { live: number; live_max: number; accepted: number };
  requests: { total: number; in_flight: number; completed: number; cut: number; aborted: number };
}

export class Simulator {
  readonly program: Program;
  baseURL = '';
  root = '';
  port = 0;

  private constructor(args: string[]) {
    this.program = new Program(['sim-provider', '--listen', '127.0.0.1:0', ...args]);
    started.push(this);
  }
  static async start(args: string[] = []): Promise<Simulator> {
    const simulator = new Simulator(args);
    const [, root, port] = await simulator.program.line(
      simulator.program.stderr,
      /sim-provider: (http:\/\/127\.0\.0\.1:(\d+))\/v1/,
    );
    simulator.root = root;
    simulator.baseURL = `${root}/v1`;
    simulator.port = Number(port);
    return simulator;
  }
  async stats(): Promise<SimulatorStats> {
    return JSON.parse((await ask(`${this.root}/sim/stats`)).text);
  }
  async requests(): Promise<Record<string, any>[]> {
    return JSON.parse((await ask(`${this.root}/sim/requests`)).text).requests;
  }
  async reset(): Promise<void> {
    await ask(`${this.root}/sim/reset`, { method: 'POST', body: '' });
  }
  async stop(): Promise<number | null> {
    return await this.program.stop();
  }
}

// For `after`: everything that was started here ends, each program with exit code 0, and no secret was told.
// Whatever else fails, nothing is left running.
const started: (Rig | Simulator)[] = [];
process.on('exit', () => started.forEach((one) => one.program.child.kill('SIGKILL')));

export async function finish(...others: { stop(): Promise<unknown> }[]): Promise<void> {
  const codes: (number | null)[] = [];
  for (const one of [...started].reverse()) codes.push(await one.stop());
  for (const other of others) await other.stop();
  assert.deepEqual(codes, codes.map(() => 0), 'every program ends cleanly');
  assertSecretsKept();
}

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

// Until `holds` does; how long it took, in ms. Fails, with what `holds` last was, after `limitMs`.
export async function until(
  what: string,
  holds: () => unknown | Promise<unknown>,
  limitMs = 10_000,
): Promise<number> {
  const began = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - began;
    if (performance.now() - began > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await pause(10);
  }
}
