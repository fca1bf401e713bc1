import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Finding } from './finding.ts';
import type { Observed } from './observe.ts';
import { RULES, type RuleId } from './rules.ts';
import { validationTasks } from './validation-tasks.ts';

const hasJq = spawnSync('jq', ['--version']).status === 0;
/** What is true of a program that prints nothing and exits with 0. */
const TRUE_OF_SILENCE = ['errors-on-stderr', 'exit-success'];
/** Answers every call as the contract has it. */
const GOOD = `#!/bin/sh
case "$1" in
  tools) echo '{"ok":true,"data":{"tools":[{"name":"","command":"","category":"","description":"","parameters":[],"outputFields":[],"idempotent":true,"rateLimit":null,"example":""}]},"meta":{}}' ;;
  health) echo '{"ok":true,"data":{"status":"ready"},"meta":{}}' ;;
  --help) echo 'Usage: program' ;;
  --acor-no-such-option) echo '{"ok":false,"error":{"code":"E_USAGE","hint":"try --help"},"meta":{}}'; exit 1 ;;
  *) echo '{"ok":true,"data":{},"meta":{}}' ;;
esac
`;

describe('validationTasks', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-validation-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The rules whose scripts exit with 0 for a program with this text. */
  function passed(text: string | undefined): RuleId[] {
    const program = join(folder, text === undefined ? 'missing' : 'program');
    if (text !== undefined) writeFileSync(program, text, { mode: 0o755 });
    const tasks = tasksFor(program).filter(({ needs }) => hasJq || !needs.includes('jq'));
    assert.ok(tasks.length > 5);
    return tasks.filter(({ script }) => spawnSync('sh', ['-c', script]).status === 0).map(({ rule }) => rule);
  }

  it('passes no program that cannot be started', () => {
    assert.deepEqual(passed(undefined), []);
  });

  it('passes no program that prints nothing where an answer is wanted', () => {
    assert.deepEqual(passed('#!/bin/sh\n').toSorted(), TRUE_OF_SILENCE);
  });

  it('passes a program that follows the contract', () => {
    const wanted = tasksFor('x').filter(({ needs }) => hasJq || !needs.includes('jq'));
    assert.deepEqual(
      passed(GOOD),
      wanted.map(({ rule }) => rule),
    );
  });
});

/** The tasks of a program that breaks every rule. */
function tasksFor(program: string) {
  const commands = [{ words: ['list'], effect: 'reads', isGroup: false }];
  const observed = { program, surface: { commands }, calls: [] } as unknown as Observed;
  const findings = Object.keys(RULES).map((rule) => ({ rule, commands: [] }) as unknown as Finding);
  return validationTasks(observed, findings);
}
