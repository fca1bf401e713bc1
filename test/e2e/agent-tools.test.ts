import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Acor, type AcorError } from '../../src/index.ts';
import { processesOf, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';
import { calls, ScriptedModel, says } from '../support/scripted-model.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the tools of a project as function tools', () => {
  it('have a schema each, run the tool, and report why it cannot run', async () => {
    using project = new TestProject({ tools: ['exits_with'], config: WITHOUT_SANDBOX });
    project.write(
      'tools/adds/tool.yaml',
      `name: adds
version: 1.0.0
description: Adds two numbers.
command: [sh, -c, 'echo "$(( $2 + $4 ))"', sh]
adapter: plain
output: json
inputs:
  - { name: a, type: int, required: true }
  - { name: b, type: int, default: 2, description: The second. }
`,
    );
    const tools = await new Acor({ cwd: project.root }).functionTools();
    const adds = tools.find(({ name }) => name === 'adds')!;
    assert.equal(adds.description, 'Adds two numbers.');
    assert.deepEqual(adds.parameters, {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer', description: 'The second.', default: 2 } },
      required: ['a'],
      additionalProperties: false,
    });
    const sum = await adds.execute({ a: 40 });
    assert.deepEqual([sum.state, sum.data], ['completed', 42]);
    const refused = await adds.execute({ a: 'many' });
    assert.deepEqual([refused.state, refused.error?.code], ['refused', 'E_USAGE']);
    const wrong = await adds.execute({ b: 'few', c: 1 });
    for (const input of ["'a'", "'b'", "'c'"]) assert.ok(wrong.error?.message.includes(input), input);
    assert.doesNotMatch(JSON.stringify(wrong), /--[a-z]|acor [a-z]/);
    const run = async () => new Acor({ cwd: project.root }).run('adds', { b: 'few' });
    await assert.rejects(run, (error: AcorError) => {
      assert.doesNotMatch(`${error.message} ${error.hint}`, /--[a-z]|Usage/);
      return error.code === 'E_USAGE';
    });
    const fails = tools.find(({ name }) => name === 'exits_with')!;
    const failed = await fails.execute({ code: 30 });
    assert.deepEqual([failed.state, failed.error?.code], ['failed', 'E_TOOL_FAILED']);
    assert.equal(
      tools.some(({ name }) => name === 'acor_answer'),
      false,
      'no tool here may ask',
    );
  });

  it('start and answer nothing for a call that was aborted before', async () => {
    using project = new TestProject({ tools: ['asks_in_typescript'], config: WITHOUT_SANDBOX });
    const tools = await new Acor({ cwd: project.root }).functionTools();
    const named = (wanted: string) => tools.find(({ name }) => name === wanted)!;
    const signal = AbortSignal.abort();
    const refused = await named('asks_in_typescript').execute({}, { signal });
    assert.deepEqual(
      [refused.state, refused.error?.code, refused.run_id],
      ['refused', 'E_CANCELLED', undefined],
    );
    assert.deepEqual(project.runIds(), []);
    const { run_id, question } = await named('asks_in_typescript').execute({});
    const given = { run_id, action_id: question?.action_id, answer: 'left' };
    const unanswered = await named('acor_answer').execute(given, { signal });
    assert.deepEqual([unanswered.state, unanswered.error?.code], ['refused', 'E_CANCELLED']);
    assert.equal((await named('acor_answer').execute(given)).state, 'completed');
  });

  it('leave out a privileged tool that no person has approved', async () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    const manifest = (level: string) =>
      `name: ${level}_tool\nversion: 1.0.0\npermissions: { level: ${level} }\n`;
    for (const level of ['minimal', 'privileged']) {
      project.write(`tools/${level}_tool/tool.yaml`, manifest(level));
      project.write(`tools/${level}_tool/cli.sh`, '#!/bin/bash\n', 0o755);
    }
    const env = project.environment();
    const tools = await new Acor({ cwd: project.root, env }).functionTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['minimal_tool'],
    );
  });

  it('stop at a question, and continue when the model answers it', async () => {
    using project = new TestProject({ tools: ['asks_in_typescript'], config: WITHOUT_SANDBOX });
    const tools = await new Acor({ cwd: project.root }).functionTools();
    const [ask, answer] = ['asks_in_typescript', 'acor_answer'].map(
      (wanted) => tools.find(({ name }) => name === wanted)!,
    );
    const waiting = await ask!.execute({});
    assert.equal(waiting.state, 'waiting_ai');
    assert.equal(waiting.question?.audience, 'user');
    assert.match(
      waiting.next?.join('\n') ?? '',
      /^acor_answer\(\{"run_id":"r-[^"]+","action_id":"[^"]+","answer":/,
    );
    const { run_id, question } = waiting;
    assert.deepEqual(
      question?.options?.map(({ id }) => id),
      ['left', 'right'],
    );
    const given = { run_id, action_id: question?.action_id };
    const wrong = await answer!.execute({ ...given, answer: 'up' });
    assert.deepEqual([wrong.state, wrong.error?.code], ['refused', 'E_BAD_ANSWER']);
    const done = await answer!.execute({ ...given, answer: 'left' });
    assert.deepEqual([done.state, done.data], ['completed', { way: 'left' }]);
  });

  it('cancel their run when the signal of the call aborts', async () => {
    using project = new TestProject({ tools: ['endless'], config: WITHOUT_SANDBOX });
    const [endless] = await new Acor({ cwd: project.root }).functionTools();
    const stop = new AbortController();
    const call = endless!.execute({}, { signal: stop.signal });
    await until(() => project.runIds().some((run) => processesOf(run).length > 0));
    stop.abort();
    const { state, error } = await call;
    assert.deepEqual([state, error?.code, error?.retryable], ['cancelled', 'E_CANCELLED', false]);
  });

  it('work in the example agent, against a scripted model', async () => {
    using model = await ScriptedModel.start([
      [calls('log_summary', { log: 'data/access.log', top: 1 })],
      [says('That was all.')],
    ]);
    using project = new ExamplesCopy();
    const env = { ...process.env, ACOR_MODEL_URL: `http://127.0.0.1:${model.port}/v1/responses` };
    const { stdout } = await promisify(execFile)(
      join(ROOT, 'node_modules', '.bin', 'bun'),
      ['agent-loop.ts', 'Who asks most?'],
      { cwd: project.root, env },
    );
    assert.equal(stdout, 'That was all.\n');
    const [first, second] = model.asked;
    assert.ok(first.tools.some(({ name }: { name: string }) => name === 'example_processor'));
    const output = JSON.parse(second.input[0].output);
    assert.equal(output.state, 'completed', second.input[0].output);
    assert.equal(second.previous_response_id, 'resp_1');
  });
});

/** The examples in their own folder, where `acor` is the package under test. */
class ExamplesCopy {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-examples-')));

  constructor() {
    cpSync(join(ROOT, 'examples'), this.root, { recursive: true });
    mkdirSync(join(this.root, 'node_modules'));
    symlinkSync(ROOT, join(this.root, 'node_modules', 'acor'));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
