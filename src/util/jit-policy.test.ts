import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** Works only when two looks have found too little work, and prints the processor time of the look that gave it the normal policy. */
const WORKER = `
const { expectShortLife } = await import(process.argv[1]);
let looks = 0;
let workedMs = 0;
process.cpuUsage = () => ({ user: (looks++ < 2 ? 199 : (workedMs = 200)) * 1000, system: 0 });
const held = setInterval(() => {}, 1000);
Bun.unsafe.setJITPolicy = (scale) => {
  console.log(JSON.stringify({ scale, looks, workedMs }));
  clearInterval(held);
};
expectShortLife(1);
`;

describe('the policy of the compiler', { skip: process.versions.bun === undefined }, () => {
  it('becomes the normal one when the process has worked for long, however long it has lived', () => {
    const module = join(import.meta.dirname, 'jit-policy.ts');
    const said = execFileSync(process.execPath, ['-e', WORKER, module], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(said), { scale: 1, looks: 3, workedMs: 200 });
  });
});
