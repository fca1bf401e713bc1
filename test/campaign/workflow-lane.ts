import { mkdirSync } from 'node:fs';
import { Lane } from './lane.ts';

/** The tasks of the workflow that is killed, each of which must come about once. */
export const TASKS = [
  'first',
  'each-0',
  'each-1',
  'each-2',
  'inner-a',
  'inner-b',
  'left',
  'both-0',
  'both-1',
];

const TOOL = `name: effect
version: 1.0.0
description: Brings about one thing outside of its run, once, and notes that it was at work.
idempotent: true
inputs:
  - { name: record, type: path, access: write, required: true }
  - { name: id, type: string, required: true }
`;

const PROGRAM = `#!/bin/bash
echo '{"type":"start","step":"effect"}'
echo "begin $4 $RUN_ID" >>"$2/journal"
sleep 0.0$((RANDOM % 9))
(set -C && : >"$2/effect-$4") 2>/dev/null || echo "found $4 $RUN_ID" >>"$2/journal"
sleep 0.0$((RANDOM % 9))
echo "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"data\\":{\\"id\\":\\"$4\\"}}"
`;

/** A project with a workflow of every kind of step, whose steps are tried again whatever their outcome. */
export class WorkflowLane extends Lane {
  readonly file: string;

  constructor() {
    super();
    this.write('tools/effect/tool.yaml', TOOL);
    this.write('tools/effect/cli.sh', PROGRAM, 0o755);
    const retry = {
      max: 20,
      on: ['infra_error', 'retryable', 'unknown', 'E_TOOL_FAILED', 'E_RUNNER_LOST'],
      backoff_s: 0,
    };
    const step = (name: string, id: string, more: Record<string, unknown> = {}) => ({
      name,
      tool: 'effect',
      args: { record: '${inputs.record}', id },
      retry,
      ...more,
    });
    const inputs = { record: { type: 'string', required: true } };
    const inner = { inputs, steps: [step('a', 'inner-a'), step('b', 'inner-b')] };
    this.write('inner.json', JSON.stringify(inner));
    const { name: _, ...zero } = step('0', 'both-0');
    const { name: __, ...one } = step('1', 'both-1');
    const outer = {
      inputs,
      max_concurrency: 2,
      steps: [
        step('first', 'first'),
        step('each', 'each-${item}', { foreach: [0, 1, 2] }),
        {
          name: 'sub',
          needs: ['first'],
          workflow: './inner.json',
          inputs: { record: '${inputs.record}' },
          retry,
        },
        {
          name: 'way',
          needs: ['each', 'sub'],
          type: 'ai_decision',
          decision_type: 'pick',
          options: [{ id: 'left' }, { id: 'right' }],
        },
        step('left', 'left', { when: "${steps.way.answer == 'left'}" }),
        step('right', 'right', { needs: ['way'], when: "${steps.way.answer == 'right'}" }),
        { name: 'both', needs: ['way'], type: 'parallel', tasks: [zero, one] },
      ],
      finally: [step('last', 'last')],
    };
    this.file = this.write('outer.json', JSON.stringify(outer));
  }

  /** A folder of its own for what one round brings about. */
  recordFolder(number: number): string {
    const folder = this.path('records', String(number));
    mkdirSync(folder, { recursive: true });
    return folder;
  }
}
