// The commands of README.md and its Chinese twin do what they say, pasted as they stand but for the port.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Program, root } from '../lib/programs.ts';

const readmes = ['README.md', 'README.zh-CN.md'];

function commands(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/```sh\n([^`]*)```/g)].flatMap(([, block]) => block.trim().split('\n'));
}

function pasted(command: string): string {
  const done = spawnSync('bash', ['-c', command], { cwd: root, encoding: 'utf8', timeout: 60_000 });
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
      for (const command of others.filter((other) => !other.startsWith('curl '))) assert.ok(pasted(command));
    } finally {
      assert.equal(await program.stop(), 0);
    }
  });
}

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
