// What must never be seen outside: the keys, the pepper, a word of every prompt. Whatever the gateway says during
// a test file is collected here, and `assertSecretsKept` at its end looks through all of it.
import assert from 'node:assert/strict';
import type { Program } from './programs.ts';

export const clientKey = 'sk-canary-client-5d1f0c7e';
export const upstreamKey = 'sk-canary-upstream-93ab44d0';
export const pepper = 'canary-pepper-of-the-socket-tests-77aa';
export const promptCanary = 'canaryprompt7e02';
const secrets = [clientKey, upstreamKey, pepper, promptCanary, 'sk-canary', 'canary-pepper'];

const programs: Program[] = [];
const texts: [string, string][] = [];

export function listenTo(program: Program): void {
  programs.push(program);
}
export function heard(where: string, text: string): void {
  texts.push([where, text]);
}

export function assertSecretsKept(): void {
  const said = [...texts, ...programs.map((program): [string, string] => ['stdout', program.stdout.join('\n')])];
  for (const program of programs) said.push(['stderr', program.stderr.join('\n')]);
  const bytes = said.reduce((sum, [, text]) => sum + text.length, 0);
  assert.ok(bytes > 0, 'something was said at all');
  for (const [where, text] of said) {
    for (const secret of secrets) {
      const at = text.indexOf(secret);
      assert.ok(at < 0, `"${secret}" in ${where}: ${text.slice(Math.max(0, at - 200), at + 100)}`);
    }
    // And in the spellings that hide it from a search.
    for (const secret of [clientKey, upstreamKey, pepper]) {
      assert.ok(!text.includes(Buffer.from(secret).toString('base64').replace(/=+$/, '')), `base64 in ${where}`);
      assert.ok(!text.includes(Buffer.from(secret).toString('hex')), `hex in ${where}`);
    }
  }
}
