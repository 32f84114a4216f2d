// Claude Code and Codex do a task of two steps with a tool: look into a file, then say what is there. They speak
// Anthropic's messages and OpenAI's responses; the provider behind the gateway speaks OpenAI's chat and nothing else.
// Nothing leaves this machine.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGateway, type Gateway } from '../e2e/lib/programs.ts';

const secret = 'the heron stands in the river';

interface Asked {
  model: string;
  stream?: boolean;
  tools?: { function: { name: string } }[];
  messages: { role: string; content: unknown; tool_call_id?: string }[];
}
const asked: Asked[] = [];

// The provider: the first time it calls the shell to read the file; when the result is there it tells it.
function answer(request: Asked): object {
  const names = (request.tools ?? []).map((tool) => tool.function.name);
  const results = request.messages.filter((message) => message.role === 'tool');
  const shell = names.find((name) => ['Bash', 'shell', 'exec_command', 'local_shell', 'shell_command'].includes(name));
  if (results.length > 0 || !shell) {
    const said = results.length > 0 ? JSON.stringify(results.at(-1)!.content) : 'nothing';
    return { content: said.includes(secret) ? `The file says: ${secret}.` : `I found: ${said}` };
  }
  const command = 'cat note.txt';
  const input =
    shell === 'Bash'
      ? { command, description: 'Read the note' }
      : shell === 'exec_command'
        ? { cmd: command }
        : shell === 'shell_command'
          ? { command }
          : { command: ['bash', '-lc', command] };
  return {
    tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: shell, arguments: JSON.stringify(input) } }],
  };
}

let provider: Server;
let gateway: Gateway;
let folder: string;
before(async () => {
  provider = createServer((incoming, reply) => {
    let body = '';
    incoming.on('data', (piece: Buffer) => void (body += piece));
    incoming.on('end', () => {
      const request = JSON.parse(body) as Asked;
      asked.push(request);
      const delta = answer(request);
      const finish = 'tool_calls' in delta ? 'tool_calls' : 'stop';
      const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
      if (!request.stream) {
        reply.setHeader('content-type', 'application/json');
        const message = { role: 'assistant', content: null, ...delta };
        reply.end(JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: finish }], usage }));
        return;
      }
      reply.setHeader('content-type', 'text/event-stream');
      const chunk = (inner: object) => reply.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...inner })}\n\n`);
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] });
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
      chunk({ choices: [], usage });
      reply.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  gateway = await startGateway(url, [{ name: 'any-model', kind: 'zhipu' }]);
  folder = mkdtempSync(join(tmpdir(), 'queqiao-agents-'));
  mkdirSync(join(folder, 'work'));
  writeFileSync(join(folder, 'work', 'note.txt'), `${secret}\n`);
});
after(async () => {
  assert.equal(await gateway.stop(), 0);
  provider.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const home = join(folder, `home-${program}`);
  mkdirSync(join(home, '.codex'), { recursive: true });
  writeFileSync(
    join(home, '.codex', 'config.toml'),
    [
      'model = "any-model"',
      'model_provider = "queqiao"',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      '[model_providers.queqiao]',
      'name = "Queqiao"',
      `base_url = "${gateway.baseURL}"`,
      'env_key = "QUEQIAO_KEY"',
      'wire_api = "responses"',
      '',
    ].join('\n'),
  );
  const child = spawn(join(import.meta.dirname, 'node_modules', '.bin', program), args, {
    cwd: join(folder, 'work'),
    env: { PATH: process.env.PATH!, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
  let out = '';
  child.stdout.on('data', (piece: Buffer) => void (out += piece));
  child.stderr.on('data', (piece: Buffer) => void (out += piece));
  await new Promise((done) => child.on('close', done));
  clearTimeout(timer);
  return out;
}

test('Claude Code', async () => {
  asked.length = 0;
  const out = await run('claude', ['-p', 'What does note.txt say?', '--dangerously-skip-permissions', '--max-turns', '4'], {
    ANTHROPIC_BASE_URL: gateway.baseURL.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: gateway.apiKey,
    ANTHROPIC_MODEL: 'any-model',
    ANTHROPIC_SMALL_FAST_MODEL: 'any-model',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  });
  assert.match(out, new RegExp(secret), out);
  assert.ok(asked.some((request) => request.messages.some((message) => message.role === 'tool')), 'the result came back');
});

test('Codex', async () => {
  asked.length = 0;
  const out = await run('codex', ['exec', '--skip-git-repo-check', 'What does note.txt say?'], {
    QUEQIAO_KEY: gateway.apiKey,
  });
  assert.match(out, new RegExp(`The file says: ${secret}`), out);
  assert.ok(asked.some((request) => request.messages.some((message) => message.role === 'tool')), 'the result came back');
});
