import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { errorInfo } from '../../protocol/error-codes.ts';
import type { RunLog } from '../ports/run-store.ts';
import { explainMissingFile } from './explain-missing-file.ts';
import type { Outcome } from './outcome.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

const FAILED: Outcome = {
  state: 'failed',
  code: 'E_TOOL_FAILED',
  message: 'exit code 1',
  hint: null,
  retryable: false,
  byRunner: true,
};
const OWN = 'Declare an input of type path for rows.csv, and open the path that the tool gets';
const IN_MANIFEST = 'or let the tool start in the project: in tool.yaml, write: cwd: project';

describe('a tool that misses a file which its caller has', () => {
  let project: ProjectFolder;
  beforeEach(() => {
    project = projectFolder({ 'rows.csv': '', 'sub/rows.csv': '', 'a b.csv': '', 'data/x.csv': '' });
  });
  afterEach(() => project.remove());

  /** What is said about these words of a tool. */
  function explained(words: string, more: { tool?: object; cwd?: string; hint?: string | null } = {}) {
    const tool = {
      name: 'loads',
      manifestPath: 'tool.yaml',
      hasHeader: false,
      entry: 'cli.sh',
      ...more.tool,
    };
    const plan = { tool, cwd: project.at(more.cwd ?? 'sub') } as unknown as ToolPlan;
    const events: Record<string, unknown>[] = [];
    const outcome = { ...FAILED, hint: more.hint ?? null };
    const log = { append: (event: Record<string, unknown>) => events.push(event) } as unknown as RunLog;
    explainMissingFile(plan, log, outcome, { words, project: project.root });
    return { event: events[0], count: events.length, hint: outcome.hint };
  }

  it('is warned with the file and the way to it', () => {
    const { event, count, hint } = explained("cat: 'rows.csv': No such file or directory");
    assert.equal(count, 1);
    assert.deepEqual(event, {
      type: 'runner_warning',
      msg: `the tool started in an empty workspace, without rows.csv; there is a file ${project.at('sub/rows.csv')}`,
      hint: `${OWN}; ${IN_MANIFEST}`,
    });
    assert.equal(hint, event!['hint']);
  });

  it('is understood in the words of every language', () => {
    for (const words of [
      "FileNotFoundError: [Errno 2] No such file or directory: 'rows.csv'",
      'cat: rows.csv: No such file or directory',
      'rows.csv: no such file or directory',
      "Error: ENOENT: no such file or directory, open 'rows.csv'",
      'open "rows.csv": ENOENT',
      "first\nNo such file or directory: 'rows.csv'\nlast",
    ])
      assert.equal(explained(words).count, 1, words);
    assert.match(String(explained("ENOENT 'a b.csv'", { cwd: '.' }).event!['msg']), /without a b\.csv;/);
    assert.match(String(explained("ENOENT 'data/x.csv'").event!['hint']), /of type path for x\.csv/);
  });

  it('gets the file of its caller before that of the project, and of the last one that it names', () => {
    assert.match(
      String(explained("ENOENT 'rows.csv'", { cwd: '.' }).event!['msg']),
      new RegExp(`${project.at('rows.csv')}$`),
    );
    assert.match(
      String(explained("ENOENT 'data/x.csv'\nENOENT 'rows.csv'").event!['msg']),
      /without rows\.csv;/,
    );
    assert.match(String(explained("ENOENT 'none.csv' 'rows.csv'").event!['msg']), /without rows\.csv;/);
  });

  it('gets the flag where it is a program without a manifest', () => {
    const exec = (cwd?: string) =>
      explained("ENOENT 'rows.csv'", { tool: { name: 'exec:cat' }, ...(cwd && { cwd }) });
    assert.equal(exec().hint, 'To start in this folder and read it, pass the flag --read .');
    assert.equal(
      exec('data').hint,
      `To start in this folder and read it, pass the flag --read ${project.root}`,
    );
    const bare = explained("ENOENT 'rows.csv'", { tool: { manifestPath: null } });
    assert.match(bare.hint!, /^Pass rows\.csv as an argument, and open the path that the tool gets; or let/);
    const header = explained("ENOENT 'rows.csv'", { tool: { manifestPath: null, hasHeader: true } });
    assert.match(header.hint!, /^Declare an input of type path for rows\.csv.* in the header of cli\.sh/);
  });

  it('keeps a specific hint, and replaces the one of the error table', () => {
    assert.equal(explained("ENOENT 'rows.csv'", { hint: 'my own' }).hint, 'my own');
    const { hint } = explained("ENOENT 'rows.csv'", { hint: errorInfo('E_TOOL_FAILED')!.hint });
    assert.match(hint!, /^Declare/);
  });

  it('gets no hint where it works in the project, or nothing is known', () => {
    for (const tool of [{ worksIn: '/x' }, { startsIn: '/x' }])
      assert.equal(explained("ENOENT 'rows.csv'", { tool }).count, 0);
    for (const words of [
      "'rows.csv' is empty",
      "ENOENT 'none.csv'",
      "ENOENT '../rows.csv'",
      `ENOENT '${'x'.repeat(256)}'`,
      "ENOENT 'ro\u0007ws.csv'",
      `${'x'.repeat(2000)} ENOENT 'rows.csv'`,
    ])
      assert.equal(explained(words).count, 0, words);
  });

  it('is looked for in the last fifty lines, none longer than two thousand characters', () => {
    const line = "ENOENT 'rows.csv'";
    assert.equal(explained([line, ...new Array(49).fill('x')].join('\n')).count, 1);
    assert.equal(explained([line, ...new Array(50).fill('x')].join('\n')).count, 0);
    assert.equal(explained(`${' '.repeat(2000 - line.length)}${line}`).count, 1);
    assert.equal(explained(`${' '.repeat(2001 - line.length)}${line}`).count, 0);
    const long = 'n'.repeat(255);
    project.write(`sub/${long}`, '');
    assert.equal(explained(`ENOENT '${long}'`).count, 1);
  });
});
