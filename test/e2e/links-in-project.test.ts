import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const SECRET = 'private_words_of_the_user';
const skip = process.platform === 'win32' ? 'links need rights on this system' : false;
/** The files of a project that ACOR reads by their place. */
const FILES = [
  '.acor/config.yaml',
  '.acor/policy.yaml',
  '.acor/error_codes.yaml',
  'tools/error_codes.yaml',
  '.acor/prompts/one.md',
  'tools/quick/tool.yaml',
  'tools/single.sh',
  'tools/single.py',
];
const COMMANDS = [
  ['tools'],
  ['validate'],
  ['run', 'quick', '--no-stream'],
  ['health'],
  ['config', 'show'],
  ['prompts'],
];

let outside: string;
before(() => {
  outside = mkdtempSync(join(tmpdir(), 'acor-outside-'));
  writeFileSync(join(outside, 'private'), `${SECRET}: ${SECRET}\n`);
  writeFileSync(join(outside, 'script'), `#!/bin/sh\n# ${SECRET}\n# acor:\n#   summary: ${SECRET}\n`, {
    mode: 0o755,
  });
});
after(() => rmSync(outside, { recursive: true }));

/** Puts something at the place of a file of a new project, and returns what each command shows, and the prompts of the server. */
async function shown(path: string, put: (at: string) => void): Promise<string> {
  using project = new TestProject({ tools: ['quick'] });
  project.write(`${dirname(path)}/.keep`, '');
  rmSync(project.path(path), { force: true });
  put(project.path(path));
  let all = '';
  for (const words of COMMANDS) {
    const { stdout, stderr } = await project.acor(words, { env: { SECONDS: '1' } });
    all += stdout + stderr;
  }
  await project.supervisorsExited();
  return all;
}

describe('a file of a cloned project', { skip }, () => {
  for (const path of FILES) {
    it(`(${path}) that is a link to a file of the user shows nothing of it`, async () => {
      const target = join(outside, /tools\/single/.test(path) ? 'script' : 'private');
      const all = await shown(path, (at) => symlinkSync(target, at));
      assert.ok(!all.includes(SECRET), all.split('\n').find((line) => line.includes(SECRET)) ?? '');
    });
  }
});
