import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readRun } from '../support/project.ts';
import { calls, ScriptedModel, says } from '../support/scripted-model.ts';
import { TaskProject } from '../support/task-project.ts';

/** The folder in which `npm run test:openai` has installed the package. */
const INSTALLED = process.env['ACOR_TEST_OPENAI'];
const skip = INSTALLED === undefined && 'needs the package openai: npm run test:openai';

class ModelProject extends TaskProject {
  readonly #model: ScriptedModel;

  constructor(model: ScriptedModel, more = '') {
    const host = `api.test.example:${model.port}`;
    super(
      'responses',
      [],
      `task: { executor: responses, model: scripted${more} }
security: { egress_hosts: { api.test.example: 127.0.0.1 }, allow_private_egress: ['${host}'] }`,
    );
    this.#model = model;
    mkdirSync(this.path('node_modules'));
    symlinkSync(join(INSTALLED!, 'node_modules', 'openai'), this.path('node_modules', 'openai'));
  }

  override get env(): Record<string, string> {
    return { ...super.env, OPENAI_BASE_URL: `http://api.test.example:${this.#model.port}/v1` };
  }
}

describe('the executor responses, with the package openai against a scripted model', { skip }, () => {
  it('lets the model work on files and commands in the sandbox, ask, report and submit', async () => {
    const options = [
      { label: 'Cookie', description: 'sent along' },
      { label: 'Storage', description: '' },
    ];
    using model = await ScriptedModel.start([
      [calls('list_files', { path: '.' }), calls('write_file', { path: 'src/made.txt', content: 'one\n' })],
      [
        calls('edit_file', { path: 'src/made.txt', old: 'one', new: 'two' }),
        calls('run_command', { command: 'cat src/made.txt .acor/config.yaml', timeout_s: 20 }),
      ],
      [
        calls('write_file', { path: 'top.txt', content: 'x' }),
        calls('ask_user', { question: 'Where?', options }),
      ],
      [
        says('[PROGRESS] Nearly there'),
        calls('submit_result', { summary: 'All done.', files_modified: ['src/made.txt', 'src/lie.txt'] }),
      ],
      [says('Again.')],
    ]);
    using project = new ModelProject(model, ', price: { input: 2, output: 10 }');
    const { env } = project;
    await project.acor(['secret', 'set', 'OPENAI_API_KEY'], { env, stdin: 'sk-0123456789abcdef' });
    const asked = await project.acor(['task', 'form', 'Write it'], { env });
    assert.equal(asked.code, 2, asked.stdout + asked.stderr);
    const [runId] = project.runIds();
    await project.acor(['answer', runId!, 'a-1', '--choice', '1'], { env });
    const ended = await project.envelope(['wait', runId!], { env });
    assert.equal(ended.data.state, 'completed', JSON.stringify(ended));
    assert.equal(readFileSync(project.path('src/made.txt'), 'utf8'), 'two\n');
    assert.equal(existsSync(project.path('top.txt')), false);

    const [first, second, third, fourth] = model.asked;
    assert.deepEqual(model.keys.slice(0, 4), Array(4).fill('Bearer sk-0123456789abcdef'));
    assert.match(first.instructions, /\[BLOCKED\]/);
    assert.equal(first.input[0].content, 'Task form: Write it');
    assert.deepEqual(
      first.tools.map(({ name, strict }: { name: string; strict: boolean }) => strict && name),
      [
        'list_files',
        'read_file',
        'write_file',
        'edit_file',
        'run_command',
        'ask_user',
        'report_progress',
        'submit_result',
      ],
    );
    assert.equal(second.previous_response_id, 'resp_1');
    assert.match(second.input[0].output, /^.*src\/$/m);
    assert.doesNotMatch(second.input[0].output, /home/);
    assert.match(third.input[1].output, /exit code 1\n--- stdout\ntwo\n/);
    assert.match(fourth.input[0].output, /read-only/i);
    assert.equal(fourth.input[1].output, 'option 1 (Cookie)');

    const events = project.events(runId!);
    const result = events.find(({ type }) => type === 'result')!;
    assert.deepEqual(result.metrics, {
      iterations: 4,
      ...{ model: 'scripted', input_tokens: 4000, cache_read_tokens: 0, output_tokens: 400 },
      reasoning_tokens: 0,
    });
    assert.equal((events.at(-1)!.cost as { usd: number }).usd, 0.012);
    assert.equal((result.data as { output: string }).output, 'All done.');
    const lies = events.filter(({ type, path }) => type === 'runner_warning' && path !== undefined);
    assert.deepEqual(
      lies.map(({ path }) => path),
      ['src/lie.txt'],
    );
    assert.ok(events.some(({ type, msg }) => type === 'progress' && msg === 'Nearly there'));

    const again = readRun(await project.acor(['task', 'form', 'And now?'], { env }));
    assert.equal(again.end.state, 'completed', again.stdout);
    const fifth = model.asked[4];
    assert.equal(fifth.previous_response_id, 'resp_4');
    assert.deepEqual(
      fifth.input.map(
        (item: { type?: string; call_id?: string; content?: string }) => item.call_id ?? item.content,
      ),
      ['call_submit_result', 'Task form: And now?'],
    );
  });

  it('reads markers in the text of a model that calls no function', async () => {
    using model = await ScriptedModel.start([
      [says('[QUESTION] Which one?\nOptions:\n1. A - first\n2. B - second')],
      [says('Done with B.')],
    ]);
    using project = new ModelProject(model);
    const run = readRun(
      await project.acor(['task', 'plain', 'Choose', '--answer', 'question="2"'], { env: project.env }),
    );
    assert.equal(run.end.state, 'completed', run.stdout);
    assert.equal(model.asked[1].input[0].content, 'Which one?\nAnswer: option 2 (B)');
    assert.equal((run.of('result')[0]!.data as { output: string }).output, 'Done with B.');
  });

  it('reports an error of the service, and ends when the budget or the calls are used up', async () => {
    const endings: [string, string, readonly object[] | { status: number; message: string }][] = [
      ['E_PERMISSION', '', { status: 401, message: 'no such key' }],
      ['E_RATE_LIMIT', '', { status: 429, message: 'slow down' }],
      ['E_TRANSIENT_NET', '', { status: 503, message: 'overloaded' }],
      ['E_TOOL_FAILED', ', max_iterations: 1', [calls('report_progress', { message: 'on it' })]],
      [
        'E_BUDGET',
        ', max_cost_usd: 0.001, price: { input: 1, output: 1 }',
        [calls('report_progress', { message: 'on it' })],
      ],
    ];
    for (const [code, more, scripted] of endings) {
      using model = await ScriptedModel.start([scripted]);
      using project = new ModelProject(model, more);
      const run = readRun(await project.acor(['task', 't', 'Go'], { env: project.env }));
      assert.equal(run.end.code, code, run.stdout);
      assert.equal(model.asked.length, 1, code);
    }
  });
});
