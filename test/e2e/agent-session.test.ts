import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { ACOR, dataFolder, type Envelope, processesOf, TestProject } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

/** A tool that wants a decision and then makes a file. */
const TOOL = `#!/bin/bash
source "$ACOR_LIB/acor.sh"
emit_start import
case $2 in *.csv) ;; *) emit_error E_INPUT_NOT_FOUND "not a table" "Give a .csv file"; exit 30 ;; esac
ask bad_row --option skip --option stop row=2
printf '{"decision":"%s"}\\n' "$ANSWER" > "$ARTIFACTS_DIR/report.json"
emit_result ok
`;

// What an agent has: a shell, no terminal, and the words that it reads.
describe('an agent that has read only acor explain', () => {
  let project: TestProject;
  let text: string;
  before(() => {
    project = new TestProject({ tools: ['asks', 'waits'] });
    text = sh('acor explain --format markdown').stdout;
  });
  after(() => project[Symbol.dispose]());

  /** Runs a line in a shell. */
  function sh(line: string) {
    const { stdout, stderr, status } = spawnSync('sh', ['-c', line.replace(/^acor /, `'${ACOR}' `)], {
      cwd: project.root,
      env: {
        PATH: process.env.PATH,
        HOME: project.root,
        LANG: 'C.UTF-8',
        CLAUDECODE: '1',
        ...dataFolder(project.root),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    return { stdout, stderr, code: status };
  }

  /** The same, when one envelope is to come. */
  function ask(line: string): Envelope & { code: number | null } {
    const { stdout, code } = sh(line);
    return { code, ...JSON.parse(stdout) };
  }

  /** The call of a tool as the explanation writes it. */
  function callOf(tool: string): string {
    const call = new RegExp(`acor run ${tool}[^\`]*`).exec(text)?.[0];
    assert.ok(call !== undefined, text);
    return call.replaceAll(/ \[[^\]]*\]/g, '');
  }

  it('runs a tool, answers its question by a command of `next`, and reads the result', () => {
    assert.match(text, /exit code 2 while the run waits/);
    const started = ask(callOf('asks'));
    assert.equal(started.code, 2);
    const answered = ask(started.meta.next[0]);
    assert.equal(answered.ok, true);
    const waited = ask(answered.meta.next[0]);
    assert.deepEqual([waited.code, waited.data.waited, waited.data.state], [0, 'ended', 'completed']);
    assert.deepEqual(waited.data.result.data, { answer: 'slow' });
    const [decision] = ask(`acor decisions ${started.error.details.run_id}`).data.decisions;
    assert.deepEqual([decision.by, decision.answer], ['claude-code', 'slow']);
  });

  it('does the same with one envelope, and recovers from a wrong name, a wrong flag and a bad answer by the hints', () => {
    const wrongName = ask(`${callOf('asks').replace('asks', 'aks')} --no-stream`);
    assert.deepEqual([wrongName.code, wrongName.error.class], [1, 'user_error']);
    const described = ask(wrongName.meta.next[0]);
    assert.equal(described.data.name, 'asks');
    const wrongFlag = ask('acor run asks --fallbak fast --no-stream');
    assert.match(wrongFlag.error.hint, /--fallback/);
    const asked = ask('acor run asks --fallback fast --no-stream');
    assert.deepEqual([asked.code, asked.error.code], [2, 'E_ACTION_REQUIRED']);
    assert.match(asked.error.action, /next/);
    const bad = ask(asked.meta.next[0].replace(/--choice \S+/, '--choice sideways'));
    assert.deepEqual([bad.code, bad.error.code], [1, 'E_BAD_ANSWER']);
    const fast = asked.meta.next.find((command: string) => command.endsWith('--choice fast'));
    const waited = ask(ask(fast).meta.next[0]);
    assert.deepEqual(waited.data.result.data, { answer: 'fast' });
  });

  it('inspects a failed run by its `next`, calls the tool correctly, and reads the artifact of the run', () => {
    project.write('tools/imports/cli.sh', TOOL, 0o755);
    const manifest = { name: 'imports', inputs: [{ name: 'table', required: true }], actions: ['bad_row'] };
    project.write('tools/imports/tool.yaml', JSON.stringify(manifest));
    const failed = ask('acor run imports --table orders.txt --no-stream');
    assert.deepEqual([failed.code, failed.error.code], [1, 'E_INPUT_NOT_FOUND']);
    const [more] = failed.meta.next as string[];
    assert.equal(ask(more!).ok, true, String(more));
    const asked = ask('acor run imports --table orders.csv --no-stream');
    assert.equal(asked.code, 2, JSON.stringify(asked));
    const waited = ask(ask(asked.meta.next[0]).meta.next[0]);
    const [artifact] = waited.data.artifacts;
    assert.deepEqual(JSON.parse(readFileSync(artifact.path, 'utf8')), { decision: 'skip' });
    assert.deepEqual(ask(`acor artifacts ${waited.data.run_id}`).data.artifacts, waited.data.artifacts);
  });

  it('starts long work, follows it, and cancels it', () => {
    const { data } = ask(`${callOf('waits')} --detach`);
    const waited = ask(`acor wait ${data.run_id} --timeout 0.2`);
    assert.deepEqual([waited.data.waited, waited.meta.next], ['timeout', [`acor wait ${data.run_id}`]]);
    const shown = ask(`acor show ${data.run_id}`);
    assert.ok(processesOf(data.run_id).length > 0);
    const cancel = shown.meta.next.find((command: string) => command.startsWith('acor cancel'));
    assert.equal(ask(cancel).data.state, 'cancelled');
    assert.deepEqual(processesOf(data.run_id), []);
  });

  it('gets the same at a terminal, because its environment shows it; a person gets a table there', {
    skip: noTerminal,
  }, async () => {
    const shown = await atTerminal(['list'], { cwd: project.root, env: { CODEX_SESSION_ID: '1' } });
    assert.equal(JSON.parse(shown.text).ok, true);
    const forPerson = await atTerminal(['list'], { cwd: project.root });
    assert.match(forPerson.text, /^tool +version/);
  });
});
