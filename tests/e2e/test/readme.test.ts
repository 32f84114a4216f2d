// The commands of README.md and its Chinese twin, and the examples of `--help`, do what they say, pasted as they stand but
// for the port.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Program, binary, root } from '../lib/programs.ts';

const readmes = ['README.md', 'README.zh-CN.md'];

function commands(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/```sh\n([^`]*)```/g)].flatMap(([, block]) => block.trim().split('\n'));
}

function pasted(command: string, cwd = root, env: Record<string, string> = {}): string {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 60_000 } as const;
  const done = spawnSync('bash', ['-c', command], options);
  assert.equal(done.status, 0, `${command}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

for (const file of readmes) {
  test(`${file}: ./run, then the curl lines`, async () => {
    const [run, ...others] = commands(file);
    assert.match(run, /^\.\/run --key my-first-key$/);
    const program = new Program(['-c', `exec ${run} --json --listen 127.0.0.1:0`], {}, 'bash');
    try {
      const [line] = await program.line(program.stdout, /^\{.*/);
      const { base_url: baseURL, api_key: key } = JSON.parse(line);
      assert.equal(key, 'my-first-key');
      const curls = others.filter((command) => command.startsWith('curl '));
      assert.equal(curls.length, 2);
      const [whole, streamed] = curls.map((curl) => pasted(curl.replace('http://127.0.0.1:8080/v1', baseURL)));
      assert.ok(JSON.parse(whole).choices[0].message.content);
      assert.match(streamed, /^x-queqiao-attempts: sim-broken \w+ \d+ms, sim-spare success \d+ms\r$/m);
      assert.match(streamed, /^data: \[DONE\]$/m);
    } finally {
      assert.equal(await program.stop(), 0);
    }
  });

  // Follows the text from the copy to a request, in a folder that looks like the tree.
  test(`${file}: a configuration for a real provider`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'queqiao-readme-'));
    mkdirSync(join(folder, 'build/release'), { recursive: true });
    symlinkSync(binary, join(folder, 'build/release/queqiao'));
    symlinkSync(join(root, 'examples'), join(folder, 'examples'));
    const [, copy, keys, check, serve, ...more] = commands(file).filter((command) => !command.startsWith('curl '));
    assert.deepEqual(more, []);
    try {
      pasted(copy, folder);
      const printed = pasted(keys, folder);
      const key = printed.match(/^key: +(\S+)/m)![1];
      const [, name, pepper] = printed.match(/^export (QUEQIAO_KEY_PEPPER)=(\S+)$/m)!;
      const entry = printed.slice(printed.indexOf('\nkey_pepper:') + 1);
      assert.equal(entry.trim().split('\n').length, 3);
      const written = readFileSync(join(folder, 'my.yaml'), 'utf8').trim().split('\n');
      writeFileSync(join(folder, 'my.yaml'), written.slice(0, -3).concat(entry).join('\n').replace(':8080', ':0'));
      const env = { OPENAI_API_KEY: 'sk-of-nobody', [name]: pepper };
      assert.match(pasted(check, folder, env), /^my\.yaml: good\..* 1 key$/m);
      await asksForModels(`cd ${folder} && exec ${serve}`, env, key, ['gpt-4o-mini']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test(`${file} shows examples/openai.yaml`, () => {
    const [, shown] = readFileSync(join(root, file), 'utf8').match(/```yaml\n([^`]*)```/)!;
    const example = readFileSync(join(root, 'examples/openai.yaml'), 'utf8');
    assert.equal(shown, example.replace(/^#.*\n/gm, ''));
    assert.equal(shown.trim().split('\n').length, 6);
  });
}

// Starts the gateway by a command and asks which models the key may use.
async function asksForModels(command: string, env: Record<string, string>, key: string, models: string[]): Promise<void> {
  const program = new Program(['-c', command], env, 'bash');
  try {
    const [, address] = await program.line(program.stderr, /"msg":"listening","address":"([^"]+)"/);
    const answer = await fetch(`http://${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200);
    const { data } = await answer.json();
    assert.deepEqual(data.map(({ id }: { id: string }) => id).sort(), models);
  } finally {
    assert.equal(await program.stop(), 0);
  }
}

test('the example of serve --help starts with the variables that it sets', async () => {
  const help = spawnSync(binary, ['serve', '--help'], { encoding: 'utf8' }).stdout;
  const [, variables, example] = help.match(/^ +((?:\w+=… )+)queqiao serve --config (examples\/\S+)$/m)!;
  const env = Object.fromEntries(variables.trim().split(' ').map((set) => [set.split('=')[0], 'of-more-than-16-letters']));
  const hashed = spawnSync(binary, ['keys', 'hash'], { input: 'a-key', env: { ...process.env, ...env }, encoding: 'utf8' });
  const [hash] = hashed.stdout.match(/hmac-sha256:[0-9a-f]{64}/)!;
  const folder = mkdtempSync(join(tmpdir(), 'queqiao-help-'));
  const copy = join(folder, 'copy.yaml');
  const text = readFileSync(join(root, example), 'utf8');
  writeFileSync(copy, text.replace(/"[0-9.]+:808\d"/g, '"127.0.0.1:0"').replace(/hmac-sha256:[0-9a-f]{64}/, hash));
  try {
    await asksForModels(`exec ${binary} serve --config ${copy}`, env, 'a-key', ['chat-best', 'chat-fast', 'embed']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('both READMEs show the same commands in the same order', () => {
  const [english, chinese] = readmes.map((file) => commands(file).map((line) => line.replace(/"content":"[^"]*"/, '')));
  assert.deepEqual(chinese, english);
});

for (const file of [...readmes, 'CONTRIBUTING.md', ...['ARCHITECTURE', 'operations', 'dependencies'].map((name) => `docs/${name}.md`)]) {
  test(`${file}: every link into the tree leads somewhere`, () => {
    const text = readFileSync(join(root, file), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link);
    assert.ok(links.length > 0);
    for (const link of links) assert.ok(existsSync(join(root, dirname(file), link)), link);
  });
}

test('docs/operations.md lists every metric that the gateway has', async () => {
  const program = new Program(['demo', '--json', '--listen', '127.0.0.1:0']);
  try {
    const [line] = await program.line(program.stdout, /^\{.*/);
    const metrics = await (await fetch(JSON.parse(line).metrics_url)).text();
    const text = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    const names = [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    assert.ok(names.length > 20);
    for (const name of names) assert.ok(text.includes(`\`${name}`), name);
  } finally {
    await program.stop();
  }
});
