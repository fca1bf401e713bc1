import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encode } from 'gpt-tokenizer';
import { ROOT, TestProject } from '../support/project.ts';

const TOOL =
  '#!/bin/sh\necho \'{"type":"start","step":"count"}\'\necho \'{"type":"result","status":"ok","data":{"words":4,"longest":["brown","quick"]}}\'\n';

/** The flags of one call, the environment, and the most tokens that the answer may have. The table in docs/agents.md has the same bounds. */
const CALLS: readonly { flags: string; env?: Record<string, string>; most: number }[] = [
  { flags: '--stream', most: 1000 },
  { flags: '', env: { CLAUDECODE: '1' }, most: 270 },
  { flags: '--no-stream', most: 270 },
  { flags: '--no-stream --toon', most: 300 },
  { flags: '--no-stream --fields result.data', most: 45 },
  { flags: '--format text', most: 15 },
];

describe('the tokens of one call', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('tools/word_count.sh', TOOL, 0o755);
  });
  after(() => project[Symbol.dispose]());

  for (const { flags, env, most } of CALLS)
    it(`are at most ${most} with ${env === undefined ? flags : 'no flag, for an agent'}`, async () => {
      const { stdout, code } = await project.acor(
        ['run', ...flags.split(' ').filter(Boolean), 'word_count'],
        env && { env },
      );
      const tokens = encode(stdout).length;
      assert.equal(code, 0);
      // An empty answer would be short, too.
      assert.match(stdout, /brown.*quick|brown[\s\S]*quick/);
      assert.ok(tokens <= most, `${tokens} tokens, ${stdout.length} bytes: ${stdout}`);
      const docs = readFileSync(join(ROOT, 'docs', 'agents.md'), 'utf8');
      const named = env === undefined ? `\`${flags}\`` : 'no flag, in the environment of an agent';
      assert.match(docs, new RegExp(`\\| ${named.replaceAll('.', '\\.')} \\|.*\\| ${most} \\|\\n`));
    });
});
