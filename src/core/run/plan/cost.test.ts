import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Config } from '../../../protocol/config-file.ts';
import { defaultManifest } from '../../../protocol/default-manifest.ts';
import type { RunRequest } from '../run-request.ts';
import { costOfParent, costOfTool, mayCost } from './cost.ts';

type Tool = Parameters<typeof mayCost>[0];

const configOf = (budget: object, task: object = {}) =>
  ({ budget: { cost_warn_at: 0.8, ...budget }, task }) as unknown as Config;
const requestOf = (more: Partial<RunRequest> = {}) =>
  ({ kind: 'tool', tool: 'x', args: [], ...more }) as unknown as RunRequest;
const toolOf = (adapter: string, cost?: object): Tool =>
  ({ adapter, manifest: { ...defaultManifest('x'), ...(cost && { cost }) } }) as Tool;
const PARENT = { run_id: 'r-1', task_id: 't' };

describe('what a run may cost', () => {
  it('is the lowest of the limits that hold for it, each with its name', () => {
    const config = configOf({ max_cost_usd: 5, max_workflow_cost_usd: 9 }, { max_cost_usd: 3 });
    const limitOf = (request: Partial<RunRequest>) =>
      costOfTool(config, toolOf('plain'), requestOf(request)).limit;
    assert.deepEqual(limitOf({}), { usd: 5, by: 'budget.max_cost_usd' });
    assert.deepEqual(limitOf({ kind: 'task' }), { usd: 3, by: 'task.max_cost_usd' });
    assert.deepEqual(limitOf({ kind: 'task', maxCostUsd: 1 }), { usd: 1, by: 'the budget of the workflow' });
    assert.equal(costOfTool(configOf({}), toolOf('plain'), requestOf()).limit, null);
    assert.deepEqual(costOfParent(config, [], requestOf({ kind: 'workflow' })).limit, {
      usd: 9,
      by: 'budget.max_workflow_cost_usd',
    });
  });

  it('is known for an agent, for a task, and for a tool whose manifest states it in dollars', () => {
    assert.deepEqual(
      [
        mayCost(toolOf('plain')),
        mayCost(toolOf('plain'), true),
        mayCost(toolOf('claude')),
        mayCost(toolOf('plain', { currency: 'USD', per_run: 0.1 })),
        mayCost(toolOf('plain', { currency: 'EUR', per_run: 0.1 })),
      ],
      [false, true, true, true, false],
    );
  });

  it('counts for the day when there is a limit for the day, once: a step is counted with its workflow', () => {
    const needs = (budget: object, tool: Tool, request: Partial<RunRequest> = {}) => [
      costOfTool(configOf(budget), tool, requestOf(request)).needsDay,
      costOfParent(configOf(budget), [tool], requestOf(request)).needsDay,
    ];
    const limited = { max_day_cost_usd: 10 };
    assert.deepEqual(needs(limited, toolOf('claude')), [true, true]);
    assert.deepEqual(needs({}, toolOf('claude')), [false, false]);
    assert.deepEqual(needs(limited, toolOf('plain')), [false, false]);
    assert.deepEqual(needs(limited, toolOf('claude'), { parent: PARENT }), [false, false]);
  });
});
