import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { Acor } from '../../src/index.ts';
import { type Event, WITHOUT_SANDBOX } from '../support/project.ts';
import { TaskProject } from '../support/task-project.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

const ROOT = dirname(dirname(import.meta.dirname));
const PLAIN = 'version: 1.0.0\nadapter: plain\n';

function projectWithWorkflow(): WorkflowProject {
  const project = new WorkflowProject();
  project.workflow({
    name: 'notes',
    inputs: { word: { type: 'string', required: true } },
    steps: [
      { name: 'first', ...project.noting('${inputs.word}') },
      { name: 'second', ...project.noting('${steps.first.data.said} again') },
    ],
  });
  project.write('tools/counts/tool.yaml', `${PLAIN}command: [seq, '3']\n`);
  project.write('tools/turns/tool.yaml', `${PLAIN}stdin: records\ncommand: [tac]\n`);
  return project;
}

describe('the library', () => {
  it('runs a workflow, whose steps are runs of their own', async () => {
    using project = projectWithWorkflow();
    const events: Event[] = [];
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const summary = await acor.workflow('flow.json', ['--word', 'good'], {
      onEvent: (event) => events.push(event as Event),
    });
    assert.deepEqual([summary.state, summary.tool], ['completed', 'workflow:notes'], summary.message ?? '');
    assert.deepEqual(project.done(), ['good', 'good again']);
    assert.equal(project.runIds().length, 3);
    assert.equal(events.at(-1)!.type, 'runner_end');
  });

  it('runs a pipe, and rejects one of a single tool', async () => {
    using project = projectWithWorkflow();
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const { state, result, message } = await acor.pipe(['counts', 'turns']);
    assert.equal(state, 'completed', message ?? '');
    assert.match(JSON.stringify(result?.data), /3.*2.*1/);
    await assert.rejects(async () => acor.pipe(['counts']), { code: 'E_USAGE' });
  });

  it('assigns a task to the configured executor, and continues the conversation under its id', async () => {
    const say = (text: string) => ({ prints: `[AGENT_COMPLETE] ${text}\n` });
    const config = `task: { executor: { command: ['./bin/agent'], adapter: markers } }`;
    using project = new TaskProject('command', [say('one'), say('two')], config);
    project.write('.acor/config.yaml', `${WITHOUT_SANDBOX}${config}\n`);
    const acor = new Acor({ cwd: project.root, env: project.environment(project.env) });
    for (const description of ['Begin', 'Go on']) {
      const { state, tool, message } = await acor.task('t', description);
      assert.deepEqual([state, tool], ['completed', 'task:command'], message ?? '');
    }
    await assert.rejects(async () => new Acor({ cwd: ROOT, env: {} }).task('t', 'Begin'), {
      code: 'E_CONFIG_INVALID',
    });
  });

  for (const runtime of ['node', 'bun']) {
    it(`runs workflows from the package in ${runtime}, by the program that comes with it`, () => {
      using project = projectWithWorkflow();
      mkdirSync(join(ROOT, 'test-results'), { recursive: true });
      const folder = mkdtempSync(join(ROOT, 'test-results', 'import-'));
      try {
        const script = `
          import { Acor } from 'acor';
          const { state, message } = await new Acor({ cwd: process.argv[2] }).workflow('flow.json', ['--word', 'good']);
          console.log(JSON.stringify({ state, message }));
        `;
        writeFileSync(join(folder, 'main.mjs'), script);
        const program = join(ROOT, 'node_modules', '.bin', runtime);
        const { stdout, stderr } = spawnSync(program, [join(folder, 'main.mjs'), project.root], {
          encoding: 'utf8',
          env: project.environment(),
        });
        assert.equal(stderr, '');
        assert.deepEqual(JSON.parse(stdout), { state: 'completed', message: null });
        assert.deepEqual(project.done(), ['good', 'good again']);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }

  it('uses a changed configuration and a changed tool at the next call', async () => {
    using project = projectWithWorkflow();
    const acor = new Acor({ cwd: project.root });
    const names = async () => (await acor.call('tool.list')).data.tools.map(({ name }) => name);
    assert.deepEqual(await names(), ['counts', 'notes_work', 'turns']);
    project.write(
      'tools/counts/tool.yaml',
      `${PLAIN}name: counts\ndescription: Changed.\ncommand: [seq, '4']\n`,
    );
    const { tools } = (await acor.call('tool.list')).data;
    assert.equal(tools.find(({ name }) => name === 'counts')?.description, 'Changed.');
    project.write('others/late/tool.yaml', `${PLAIN}command: [seq, '1']\n`);
    project.write('.acor/config.yaml', `${WITHOUT_SANDBOX}project: { tools_dirs: [others] }\n`);
    assert.deepEqual(await names(), ['late']);
    assert.equal((await acor.run('late')).state, 'completed');
    project.write('.acor/config.yaml', `${WITHOUT_SANDBOX}project: { tools_dirs: 7 }\n`);
    await assert.rejects(acor.call('tool.list'), { code: 'E_CONFIG_INVALID' });
    project.write('.acor/config.yaml', WITHOUT_SANDBOX);
    assert.deepEqual(await names(), ['counts', 'notes_work', 'turns']);
  });
});
