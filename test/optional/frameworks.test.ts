import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Acor } from '../../src/index.ts';
import { processesOf, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

/** The folder in which `npm run test:frameworks` has installed the packages. */
const INSTALLED = process.env['ACOR_TEST_FRAMEWORKS'];
const skip = INSTALLED === undefined && 'needs @openai/agents and langchain: npm run test:frameworks';

// biome-ignore lint/suspicious/noExplicitAny: the packages are not installed where types are checked
type Any = any;

/** What the model does next, from the results that it has seen. */
type Turn = (results: Any[]) => { call: string; args: object } | { say: string };

/** A framework: it lets a model with these turns use the tools of a project, and returns its last words. */
type Framework = (
  acor: Acor,
  turn: Turn,
  options: { limitS?: number; signal?: AbortSignal },
) => Promise<string>;

async function load(name: string): Promise<Any> {
  const resolve = createRequire(join(INSTALLED!, 'package.json')).resolve;
  return import(pathToFileURL(resolve(name)).href);
}

/** The adapter of docs/library.md. */
const openAiAgents: Framework = async (acor, turn, { limitS, signal }) => {
  const { Agent, run, setTracingDisabled, tool, Usage } = await load('@openai/agents');
  setTracingDisabled(true);
  const tools = (await acor.functionTools({ limitS })).map(({ name, description, parameters, execute }) =>
    tool({
      ...{ name, description, parameters, strict: false },
      execute: (input: Any, _: unknown, details: Any) => execute(input, { signal: details?.signal }),
    }),
  );
  let calls = 0;
  const model = {
    async getResponse({ input }: Any) {
      const results = [input].flat().flatMap(({ type, output }: Any) => {
        return type === 'function_call_result' ? [JSON.parse(output.text ?? output)] : [];
      });
      const next = turn(results);
      const id = `c-${++calls}`;
      const output =
        'say' in next
          ? {
              ...{ type: 'message', role: 'assistant', status: 'completed' },
              content: [{ type: 'output_text', text: next.say }],
            }
          : {
              ...{ type: 'function_call', callId: id, name: next.call, status: 'completed' },
              arguments: JSON.stringify(next.args),
            };
      return { usage: new Usage(), output: [output], responseId: id };
    },
    getStreamedResponse() {
      throw new Error('not streamed');
    },
  };
  const agent = new Agent({ name: 'tester', model, tools });
  const { finalOutput } = await run(agent, 'Go.', { maxTurns: 20, ...(signal && { signal }) });
  return String(finalOutput);
};

/** The adapter of docs/library.md. */
const langChain: Framework = async (acor, turn, { limitS, signal }) => {
  const [{ createAgent }, { tool }, { BaseChatModel }, { AIMessage }] = await Promise.all(
    [
      'langchain',
      '@langchain/core/tools',
      '@langchain/core/language_models/chat_models',
      '@langchain/core/messages',
    ].map(load),
  );
  const tools = (await acor.functionTools({ limitS })).map(({ name, description, parameters, execute }) =>
    tool(
      async (input: Any, config: Any) => JSON.stringify(await execute(input, { signal: config?.signal })),
      { name, description, schema: parameters },
    ),
  );
  let calls = 0;
  class Scripted extends BaseChatModel {
    _llmType() {
      return 'scripted';
    }
    bindTools() {
      return this;
    }
    async _generate(messages: Any[]) {
      const results = messages
        .filter((message) => message.getType() === 'tool')
        .map(({ content }) => JSON.parse(content));
      const next = turn(results);
      const message =
        'say' in next
          ? new AIMessage(next.say)
          : new AIMessage({
              content: '',
              tool_calls: [{ id: `c-${++calls}`, name: next.call, args: next.args, type: 'tool_call' }],
            });
      return { generations: [{ text: message.text ?? '', message }] };
    }
  }
  const agent = createAgent({ model: new (Scripted as Any)({}), tools });
  const { messages } = await agent.invoke(
    { messages: [{ role: 'user', content: 'Go.' }] },
    { recursionLimit: 50, ...(signal && { signal }) },
  );
  return String(messages.at(-1).content);
};

for (const [name, converse] of Object.entries({
  'the OpenAI Agents SDK': openAiAgents,
  'LangChain.js': langChain,
})) {
  describe(`the function tools of a project in ${name}`, { skip }, () => {
    const acorOf = (project: TestProject) => new Acor({ cwd: project.root, env: project.environment() });

    it('run, and a failure is a result for the model', async () => {
      using project = new TestProject({ tools: ['exits_with', 'prints_json'], config: WITHOUT_SANDBOX });
      const states: string[] = [];
      const said = await converse(
        acorOf(project),
        (seen) => {
          states.splice(0, states.length, ...seen.map(({ state, error }) => `${state} ${error?.code}`));
          if (seen.length === 0) return { call: 'prints_json', args: {} };
          if (seen.length === 1) return { call: 'exits_with', args: { code: 30 } };
          return { say: 'done' };
        },
        {},
      );
      assert.equal(said, 'done');
      assert.deepEqual(states, ['completed undefined', 'failed E_TOOL_FAILED']);
    });

    it('ask the model, and wait for a run that takes long', async () => {
      using project = new TestProject({ tools: ['asks_in_typescript'], config: WITHOUT_SANDBOX });
      project.write(
        'tools/waits/cli.sh',
        `#!/bin/bash\nuntil [ -e ${project.path('go')} ]; do sleep 0.05; done\necho '{"type":"result","status":"ok","data":7}'\n`,
        0o755,
      );
      const answered = await converse(
        acorOf(project),
        (seen) => {
          const last = seen.at(-1);
          if (last === undefined) return { call: 'asks_in_typescript', args: {} };
          if (last.state !== 'waiting_ai') return { say: last.state };
          const { run_id, question } = last;
          const answer = question.options?.[0].id ?? true;
          return { call: 'acor_answer', args: { run_id, action_id: question.action_id, answer } };
        },
        {},
      );
      assert.equal(answered, 'completed');
      const waited = await converse(
        acorOf(project),
        (seen) => {
          const last = seen.at(-1);
          if (last === undefined) return { call: 'waits', args: {} };
          if (last.state !== 'running') return { say: String(last.data) };
          project.write('go', '');
          return { call: 'acor_wait', args: { run_id: last.run_id } };
        },
        { limitS: 0.2 },
      );
      assert.equal(waited, '7');
    });

    it('cancel their run with the agent', async () => {
      using project = new TestProject({ config: WITHOUT_SANDBOX });
      project.write('tools/hangs/cli.sh', '#!/bin/bash\nsleep 600 & wait\n', 0o755);
      const stop = new AbortController();
      const turn: Turn = (seen) => (seen.length === 0 ? { call: 'hangs', args: {} } : { say: 'done' });
      const ended = converse(acorOf(project), turn, { signal: stop.signal }).catch(() => {});
      await until(() => project.runIds().some((run) => processesOf(run).length > 0));
      stop.abort();
      await ended;
      const [run] = project.runIds();
      await until(() => project.record(run!)?.state === 'cancelled');
      assert.deepEqual(processesOf(run!), []);
    });
  });
}
