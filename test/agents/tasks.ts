import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TaskProject } from '../support/task-project.ts';
import { type Heard, type RunSlot, ScriptedModel } from './scripted-model.ts';

/** Where `npm run test:agents` has installed the agents. */
const CLIENTS = process.env.ACOR_AGENT_CLIENTS ?? '';
const HOST = 'api.test.example';

/** What differs from one agent to the next. */
const AGENTS = {
  claude: { key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL', path: '', model: 'sonnet', shell: bash },
  codex: { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', path: '/v1', model: 'gpt-5', shell: exec },
  gemini: {
    ...{ key: 'GEMINI_API_KEY', url: 'GOOGLE_GEMINI_BASE_URL', path: '' },
    ...{ model: 'gemini-2.5-flash', shell: shellCommand },
  },
} as const;

for (const [agent, { key, url, path, model: name, shell }] of Object.entries(AGENTS)) {
  describe(`acor task with ${agent}`, () => {
    it('changes a file in the sandbox, waits at its question, and continues in its session with the answer', async () => {
      await using model = await ScriptedModel.start((heard) => next(heard, shell));
      const { port } = new URL(model.url);
      using project = new TaskProject(
        agent,
        [],
        `task: { executor: ${agent}, model: ${name} }
security: { egress_hosts: { ${HOST}: 127.0.0.1 }, allow_private_egress: ['${HOST}:${port}'] }`,
      );
      const env = {
        ...project.env,
        PATH: `${join(CLIENTS, agent, 'node_modules', '.bin')}:${process.env.PATH}`,
        [url]: `http://${HOST}:${port}${path}`,
      };
      await project.acor(['secret', 'set', key], { env, stdin: 'sk-0123456789abcdef' });
      const asked = await project.acor(['task', 't', 'Make the file'], { env });
      const about = () => `${asked.stdout}${asked.stderr}${model.problems}`;
      assert.equal(asked.code, 2, about());
      const [runId] = project.runIds();
      await project.acor(['answer', runId!, 'q-1', '--choice', '1'], { env });
      const ended = await project.envelope(['wait', runId!, '--until', 'ending'], { env });
      assert.equal(ended.data.state, 'completed', about());
      assert.equal(readFileSync(project.path('src/made.txt'), 'utf8'), 'made\n');
      assert.equal(existsSync(project.path('top.txt')), false, 'it wrote where it may not');
      const event = project.events(runId!).find(({ task_id }) => task_id === 't');
      assert.deepEqual(event?.files, [{ path: 'src/made.txt', change: 'created' }]);
      const last = model.heard.at(-1)!;
      assert.match(last.text, /Make the file/, 'the conversation is another one');
    });
  });
}

/** The model of the test: it runs a command, asks, and is done once it has an answer. */
function next({ results, text }: Heard, shell: (command: string) => RunSlot): RunSlot {
  if (text.includes('Answer: option 1 (A)'))
    return { say: '[CODEX_COMPLETE] Task completed in 2 iterations' };
  if (results.length === 0) return shell('echo made >src/made.txt; echo top >top.txt');
  return { say: '[QUESTION] Which?\nOptions:\n1. A - one\n2. B - two' };
}

function bash(command: string): RunSlot {
  return { call: 'Bash', args: { command, description: 'a test' } };
}

function exec(cmd: string): RunSlot {
  return { call: 'exec_command', args: { cmd } };
}

function shellCommand(command: string): RunSlot {
  return { call: 'run_shell_command', args: { command, description: 'a test' } };
}
