// `serve --log FILE`: a rotation by rename and SIGUSR1 loses nothing, and a file that cannot be opened is said.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Program } from '../lib/programs.ts';
import { ask } from '../lib/http.ts';
import { configuration, until } from '../lib/rig.ts';
import { pepper } from '../lib/secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'queqiao-log-'));
const log = join(folder, 'queqiao.log');
const config = join(folder, 'queqiao.yaml');
writeFileSync(config, JSON.stringify(configuration([{ name: 'sim-gpt', base_url: 'http://127.0.0.1:9/v1' }])));
after(() => rmSync(folder, { recursive: true }));

const serve = (path: string) =>
  new Program(['serve', '--config', config, '--log', path], { QUEQIAO_KEY_PEPPER: pepper });
const text = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const lines = (path: string) => text(path).split('\n').slice(0, -1).map((line) => JSON.parse(line));

test('lines go on in a new file after a rename and SIGUSR1', async () => {
  const program = serve(log);
  await until('it listens', async () => text(log).includes('"listening"'), 5_000);
  const { address } = lines(log).find((line) => line.msg === 'listening');
  renameSync(log, `${log}.1`);
  await ask(`http://${address}/before`);
  program.child.kill('SIGUSR1');
  await until('the log is opened again', async () => existsSync(log), 5_000);
  await ask(`http://${address}/after`);
  await until('the line is there', async () => text(log).includes('/after'), 5_000);
  assert.equal(await program.stop(), 0);
  const both = [...lines(`${log}.1`), ...lines(log)];
  for (const path of ['/before', '/after'])
    assert.equal(both.filter((line) => line.path === path).length, 1, path);
  assert.equal(lines(log).at(-1).msg, 'stopped');
  assert.deepEqual(program.stderr, []);
});

test('a file that cannot be opened ends the start', async () => {
  const program = serve(join(folder, 'none', 'queqiao.log'));
  await assert.rejects(program.line(program.stdout, /never/), /none\/queqiao\.log/);
  assert.equal(program.child.exitCode, 1);
});
