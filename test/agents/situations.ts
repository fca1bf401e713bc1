import assert from 'node:assert/strict';
import type { TestProject } from '../support/project.ts';
import { processesOf, until } from '../support/project.ts';

/** What the model of a situation does next: it calls a tool of ACOR by its own name, or ends. */
export type Step = { tool: string; args: object } | { say: string };

/** An agent with a model whose turns are written beforehand. */
export interface SituationAgent {
  project: TestProject;
  /** Gives the agent a task: `next` decides from the results so far, as the model reads them. Resolves to all that the model read. */
  converse(next: (results: string[]) => Step): Promise<{ results: string[]; text: string }>;
  /** The same, but the agent is killed once `isTime` resolves. */
  killedDuring(next: (results: string[]) => Step, isTime: () => Promise<void>): Promise<void>;
}

/** Seconds after which a call answers that its run goes on. */
export const CALL_LIMIT_S = 2;

const TRIES = `n=$(cat "$CHECKPOINT_DIR/n" 2>/dev/null || echo 0); echo $((n + 1)) >"$CHECKPOINT_DIR/n"
if [ "$n" -lt 2 ]; then echo '{"type":"error","code":"E_TRANSIENT_NET","msg":"no line","retryable":true}'; exit 20; fi
echo '{"type":"result","status":"ok","data":{"tries":'"$((n + 1))"'}}'`;

/** The tools of all situations. */
export function writeSituationTools(project: TestProject): void {
  project.write('signals/.keep', '');
  const add = (name: string, manifest: string, script: string) => {
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${manifest}`);
    project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
  };
  add(
    'tries',
    'description: Succeeds at the third try.\nidempotent: true\nretry: { max_attempts: 1 }\n',
    TRIES,
  );
  add('rules', 'description: Rules.\npermissions: { level: privileged }\n', 'exit 0');
  add('needs', 'description: Needs a title.\ninputs: [{ name: title, required: true }]\n', 'echo "$2"');
  add(
    'waits',
    'description: Waits for a file.\nidempotent: true\npermissions: { level: standard, filesystem: { read: [signals] } }\n',
    `until [ -e ${project.path('signals/go')} ]; do sleep 0.1; done\necho '{"type":"result","status":"ok","data":"at last"}'`,
  );
}

const QUESTIONS = [
  { action: 'first', options: [{ id: 'red' }, { id: 'blue' }] },
  { action: 'second', options: [{ id: 'one' }, { id: 'two' }] },
];

const runIn = (results: readonly string[]) => /r-[0-9a-z]{16,}/.exec(results.join('\n'))?.[0] ?? '';

/** The answers that `next` of the results offers, of those that a situation gives. */
function offeredAnswers(results: readonly string[]): { action_id: string; choice: string }[] {
  const offered = results
    .join('\n')
    .replaceAll('\\', '')
    .matchAll(/"action_id":"(a-\d+)","choice":"(blue|two)"/g);
  return [...offered].map(([, action_id = '', choice = '']) => ({ action_id, choice }));
}

/** The situations in which an agent must come through by what ACOR answers alone. */
export const SITUATIONS: Readonly<Record<string, (agent: SituationAgent) => Promise<void>>> = {
  async 'answers two questions of one run'({ project, converse }) {
    const { results } = await converse((seen) => {
      const run = runIn(seen);
      switch (seen.length) {
        case 0:
          return { tool: 'asks_any', args: { questions: QUESTIONS } };
        case 1:
          return { tool: 'acor_answer', args: { run, choice: 'blue' } };
        case 2:
          return { tool: 'acor_wait', args: { run } };
        case 3:
          return { tool: 'acor_answer', args: { run, choice: 'two' } };
        case 4:
          return { tool: 'acor_wait', args: { run } };
        default:
          return { say: 'done' };
      }
    });
    assert.match(results.at(-1)!, /completed[\s\S]*blue[\s\S]*two/);
    assert.equal(project.runIds().length, 1);
  },

  async 'answers two questions that are asked at once'({ project, converse }) {
    const given = new Set<string>();
    const { results } = await converse((seen) => {
      if (seen.length === 0) return { tool: 'asks_any', args: { questions: QUESTIONS, at_once: true } };
      if (/"completed/.test(seen.at(-1)!.replaceAll('\\', ''))) return { say: 'done' };
      const run = runIn(seen);
      const answer = offeredAnswers(seen).find(({ action_id }) => !given.has(action_id));
      if (answer === undefined) return { tool: 'acor_wait', args: { run } };
      given.add(answer.action_id);
      return { tool: 'acor_answer', args: { run, ...answer } };
    });
    assert.match(results.at(-1)!, /completed[\s\S]*blue[\s\S]*two|completed[\s\S]*two[\s\S]*blue/);
    assert.equal(project.runIds().length, 1);
  },

  async 'answers for a user whom its client cannot ask'({ project, converse }) {
    const { results } = await converse((seen) => {
      const run = runIn(seen);
      switch (seen.length) {
        case 0:
          return { tool: 'asks_any', args: { questions: [{ ...QUESTIONS[0], audience: 'user' }] } };
        case 1:
          return { tool: 'acor_answer', args: { run, choice: 'red' } };
        case 2:
          return { tool: 'acor_wait', args: { run } };
        default:
          return { say: 'done' };
      }
    });
    assert.match(results[0]!, /waiting_ai[\s\S]*ask the user/i);
    assert.match(results.at(-1)!, /completed[\s\S]*red/);
    assert.equal(project.runIds().length, 1);
  },

  async 'resumes a retryable failure until it is done'({ converse }) {
    const { results } = await converse((seen) => {
      if (seen.length === 0) return { tool: 'tries', args: {} };
      if (seen.at(-1)!.includes('E_TRANSIENT_NET'))
        return { tool: 'acor_resume', args: { run: runIn(seen) } };
      return { say: 'done' };
    });
    assert.equal(results.length, 3, results.join('\n---\n'));
    assert.match(results.at(-1)!, /tries\\*"\s*:\s*3/);
  },

  async 'reads why a tool needs an approval, and what to do'({ converse }) {
    const { results } = await converse((seen) =>
      seen.length === 0 ? { tool: 'acor_run', args: { tool: 'rules' } } : { say: 'done' },
    );
    assert.match(results[0]!, /E_APPROVAL_REQUIRED[\s\S]*acor approve rules/);
  },

  async 'reads that a run does not exist, and lists those that do'({ converse }) {
    const { results } = await converse((seen) => {
      if (seen.length === 0) return { tool: 'acor_wait', args: { run: 'r-0000000000000000' } };
      return seen.length === 1 ? { tool: 'acor_runs', args: {} } : { say: 'done' };
    });
    assert.match(results[0]!, /E_RUN_NOT_FOUND[\s\S]*acor_runs/);
    assert.match(results[1]!, /runs/);
  },

  async 'corrects its arguments with the explanation that an error names'({ converse }) {
    const { results } = await converse((seen) => {
      switch (seen.length) {
        case 0:
          return { tool: 'acor_run', args: { tool: 'needs' } };
        case 1:
          return { tool: 'acor_explain', args: { topic: 'tool:needs' } };
        case 2:
          return { tool: 'needs', args: { title: 'A title' } };
        default:
          return { say: 'done' };
      }
    });
    assert.match(results[0]!, /E_USAGE[\s\S]*acor_explain[\s\S]*tool:needs/);
    assert.match(results[1]!, /title/);
    assert.match(results[2]!, /completed/);
  },

  async 'waits for a run that outlives the limit of a call'({ project, converse }) {
    const { results } = await converse((seen) => {
      if (seen.length === 0) return { tool: 'waits', args: {} };
      if (/completed/.test(seen.at(-1)!)) return { say: 'done' };
      project.write('signals/go', '');
      return { tool: 'acor_wait', args: { run: runIn(seen) } };
    });
    assert.match(results[0]!, /running[\s\S]*acor_wait/);
    assert.match(results.at(-1)!, /at last/);
    assert.equal(project.runIds().length, 1);
  },

  async 'is killed during a call, and finds the run when it is started again'(agent) {
    const { project } = agent;
    const started = async () => until(() => project.runIds().some((run) => processesOf(run).length > 0));
    await agent.killedDuring(() => ({ tool: 'waits', args: {} }), started);
    const { results } = await agent.converse((seen) => {
      if (seen.length === 0) return { tool: 'acor_runs', args: {} };
      if (seen.length > 1 && /completed/.test(seen.at(-1)!)) return { say: 'done' };
      project.write('signals/go', '');
      return { tool: 'acor_wait', args: { run: runIn(seen) } };
    });
    assert.match(results.at(-1)!, /at last/);
    assert.equal(project.runIds().length, 1);
  },

  async 'hears of a live run at the start of its session'({ project, converse }) {
    const { data } = await project.envelope(['run', 'waits', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'running');
    const { text } = await converse(() => ({ say: 'done' }));
    assert.ok(text.includes(data.run_id), text);
    await project.envelope(['cancel', data.run_id]);
  },

  async 'recovers a run whose supervisor was killed'({ project, converse }) {
    const { data } = await project.envelope(['run', 'waits', '--detach']);
    await until(() => processesOf(data.run_id).length > 0);
    await project.killSupervisor(data.run_id);
    project.write('signals/go', '');
    const { results } = await converse((seen) => {
      if (seen.length === 0) return { tool: 'acor_wait', args: { run: data.run_id } };
      if (seen.at(-1)!.includes('E_RUNNER_LOST')) return { tool: 'acor_resume', args: { run: data.run_id } };
      return { say: 'done' };
    });
    assert.match(results[0]!, /E_RUNNER_LOST[\s\S]*acor_resume/);
    assert.match(results.at(-1)!, /at last/);
  },
};
