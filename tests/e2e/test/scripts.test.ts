// The scripts that a newcomer meets first say what they wait for and what is wrong, at once.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { root } from '../lib/programs.ts';

const run = (...options: string[]) =>
  spawnSync('./run', options, { cwd: root, encoding: 'utf8', timeout: 20_000 });

test('./run refuses its mistakes itself, before it builds', () => {
  for (const options of [['--fly'], ['--listen'], ['--key'], ['--listen', 'nowhere'], ['--listen=127.0.0.1:'],
    ['--listen', '127.0.0.1:65536'], ['--listen=2001:db8::1'], ['--key', 'two words'], ['--key=钥匙'],
    ['--json', '--key', 'a'.repeat(513)]]) {
    const refused = run(...options);
    assert.equal(refused.status, 2, options.join(' '));
    assert.match(refused.stderr, /^\.\/run: .*\(see --help\)\n$/, options.join(' '));
  }
});

test('a second build of a folder says that it waits for the first', async () => {
  const tree = mkdtempSync(join(tmpdir(), 'queqiao-tree-'));
  for (const folder of ['tools', 'bin', 'build/release']) mkdirSync(join(tree, folder), { recursive: true });
  copyFileSync(join(root, 'tools/build.sh'), join(tree, 'tools/build.sh'));
  chmodSync(join(tree, 'tools/build.sh'), 0o755);
  writeFileSync(join(tree, 'bin/cmake'), '#!/bin/sh\necho built\n', { mode: 0o755 });
  for (const file of ['build.ninja', 'lock']) writeFileSync(join(tree, 'build/release', file), '');
  const holder = spawn('flock', [join(tree, 'build/release/lock'), 'sh', '-c', 'echo held; read line'],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  const waiting = spawn(join(tree, 'tools/build.sh'), ['release'],
    { env: { ...process.env, PATH: `${tree}/bin:${process.env.PATH}` }, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(waiting, 'exit');
  let built = '';
  waiting.stdout.on('data', (bytes) => { built += bytes; });
  try {
    const [said] = await Promise.race([once(waiting.stderr, 'data'), ended]);
    assert.match(String(said), /waiting for another build/);
    assert.equal(built, '');
    holder.stdin.end('go\n');
    assert.deepEqual(await ended, [0, null]);
    assert.equal(built, 'built\n');
  } finally {
    holder.kill();
    waiting.kill();
    rmSync(tree, { recursive: true });
  }
});

test('the progress of an installation is told while it goes on, every ten packages', async () => {
  const script = `source ${join(root, 'tools/apt_progress.sh')}; tell_progress`;
  const progress = spawn('bash', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: progress.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  // Its input stays open: whatever holds back what it reads from a pipe says nothing here.
  progress.stdin.write('Need to get 154 MB of archives.\n' + 'Get:1 http://deb.example a\n'.repeat(19));
  assert.equal(await next(), 'setup:   Need to get 154 MB of archives.');
  assert.equal(await next(), 'setup:   downloaded 10 files');
  progress.stdin.write('Selecting previously unselected package a.\n' + 'Unpacking a (1) ...\n'.repeat(10));
  assert.equal(await next(), 'setup:   unpacked 10 packages');
  progress.stdin.write('Setting up a (1) ...\n'.repeat(20));
  assert.equal(await next(), 'setup:   set up 10 packages');
  assert.equal(await next(), 'setup:   set up 20 packages');
  const ended = once(progress, 'exit');
  progress.stdin.end();
  assert.deepEqual(await ended, [0, null]);
});
