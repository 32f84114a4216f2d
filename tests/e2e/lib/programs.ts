// Starts the real binary: the simulated provider, the gateway in front of it, the demo. Every program is
// stopped, by its own process id, by stop().
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../..');
export const binary = process.env.QQ_BINARY ?? join(root, 'build/release/queqiao');
const startLimitMs = 20_000;

export class Program {
  readonly child: ChildProcess;
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  private readonly watchers = new Set<() => void>();
  private ended: Promise<number | null>;
  private toldToStop = false;

  constructor(args: string[], env: Record<string, string> = {}, command = binary) {
    // Keys of real providers on the developer's machine have no part in these tests.
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.endsWith('_API_KEY')));
    this.child = spawn(command, args, { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'], cwd: root });
    for (const [stream, lines] of [[this.child.stdout, this.stdout], [this.child.stderr, this.stderr]] as const) {
      createInterface({ input: stream! }).on('line', (line) => {
        lines.push(line);
        for (const watcher of this.watchers) watcher();
      });
    }
    this.ended = new Promise((done, failed) => {
      this.child.once('exit', (code) => {
        done(code);
        for (const watcher of this.watchers) watcher();
      });
      this.child.once('error', failed);
    });
  }

  // The first match of `pattern` in a line of stdout or stderr.
  async line(lines: string[], pattern: RegExp): Promise<RegExpMatchArray> {
    return await new Promise((done, failed) => {
      const finish = (act: () => void) => {
        clearTimeout(timer);
        this.watchers.delete(look);
        act();
      };
      const look = () => {
        for (const line of lines) {
          const match = line.match(pattern);
          if (match) return finish(() => done(match));
        }
        if (this.child.exitCode !== null) finish(() => failed(new Error(`ended: ${this.stderr.join('\n')}`)));
      };
      const timer = setTimeout(
        () => finish(() => failed(new Error(`no ${pattern} in:\n${[...this.stdout, ...this.stderr].join('\n')}`))),
        startLimitMs,
      );
      this.watchers.add(look);
      look();
    });
  }

  tellToStop(): void {
    this.toldToStop = true;
    this.child.kill('SIGTERM');
  }

  // Asks it to stop, once: a second time would cut its drain short. Its exit code.
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && !this.toldToStop) this.tellToStop();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 15_000);
    const code = await this.ended;
    clearTimeout(timer);
    return code;
  }
}

export async function startSimulator(args: string[] = []): Promise<{ program: Program; baseURL: string }> {
  const program = new Program(['sim-provider', '--listen', '127.0.0.1:0', ...args]);
  const [, baseURL] = await program.line(program.stderr, /sim-provider: (http:\S+\/v1)/);
  return { program, baseURL };
}

// What the tests' configuration offers: a public name, what it asks of the simulator, and what is tried next.
// Each has a provider of its own, so that one's cool-down or breaker is not another's.
export interface Model {
  name: string;
  upstream?: string;
  fallback?: string;
  kind?: string; // of its provider; openai_compatible unless said otherwise
  path?: string; // of the simulator's root, where that kind is; /v1
  more?: string; // members of the provider, ", region: x"
  about?: string; // members of the model, ", context: 128k"
  credential?: string;
}

export interface Gateway {
  program: Program;
  baseURL: string;
  apiKey: string;
  stop(): Promise<number | null>;
}

export async function startGateway(simulatorURL: string, models: Model[], timers = ''): Promise<Gateway> {
  const pepper = 'pepper-of-the-end-to-end-tests';
  const apiKey = 'sk-end-to-end';
  const hashed = spawnSync(binary, ['keys', 'hash'], {
    input: `${apiKey}\n`,
    env: { ...process.env, QUEQIAO_KEY_PEPPER: pepper },
    encoding: 'utf8',
  });
  const hash = hashed.stdout.match(/hmac-sha256:[0-9a-f]{64}/)?.[0];
  if (!hash) throw new Error(`keys hash: ${hashed.stdout}${hashed.stderr}`);
  const provider = (model: Model) => `at-${model.name}`;
  const config = [
    'workers: 2',
    'listeners: [{address: "127.0.0.1:0", serve: [api, metrics]}]',
    `timers: {${timers}}`,
    'key_pepper: "${QUEQIAO_KEY_PEPPER}"',
    'providers:',
    ...models.map(
      (model) =>
        `  - {name: ${provider(model)}, kind: ${model.kind ?? 'openai_compatible'}, ` +
        `base_url: "${simulatorURL.replace(/\/v1$/, '')}${model.path ?? '/v1'}"${model.more ?? ''}, ` +
        `allow_private_address: true, accounts: [{name: main, credential: "${model.credential ?? 'sk-simulated'}"}]}`,
    ),
    'models:',
    ...models.map(
      (model) =>
        `  - {name: ${model.fallback ? `${model.name}-first` : model.name}, provider: ${provider(model)}, ` +
        `upstream_name: "${model.upstream ?? model.name}"${model.about ?? ''}}`,
    ),
    ...(models.some((model) => model.fallback) ? ['routes:'] : []),
    ...models
      .filter((model) => model.fallback)
      .map(
        (model) =>
          `  - {name: ${model.name}, candidates: [{model: ${model.name}-first}], fallback: [{model: ${model.fallback}}]}`,
      ),
    `keys: [{name: e2e, hash: "${hash}", owner: tests}]`,
    '',
  ].join('\n');
  const folder = mkdtempSync(join(tmpdir(), 'queqiao-e2e-'));
  const file = join(folder, 'queqiao.yaml');
  writeFileSync(file, config);
  const program = new Program(['serve', '--config', file], { QUEQIAO_KEY_PEPPER: pepper });
  const [, address] = await program.line(program.stderr, /"msg":"listening","address":"([^"]+)"/);
  return {
    program,
    baseURL: `http://${address}/v1`,
    apiKey,
    async stop() {
      const code = await program.stop();
      rmSync(folder, { recursive: true });
      return code;
    },
  };
}

export async function startDemo(
  args: string[] = [],
): Promise<{
  program: Program;
  base_url: string;
  admin_url: string;
  metrics_url: string;
  api_key: string;
  models: string[];
}> {
  const program = new Program(['demo', '--json', '--listen', '127.0.0.1:0', ...args]);
  const [first] = await program.line(program.stdout, /.*/);
  return { program, ...JSON.parse(first) };
}
