import type { RunWriter } from '../../ports/run-store.ts';
import { Watchdog } from '../../process/watchdog.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';
import type { AttemptContext } from './attempt-context.ts';
import { EndingRace } from './ending.ts';
import { Intake } from './intake.ts';
import { assignRunUser, openInput, openOutput, prepareResources } from './prepare.ts';
import { spawnTool } from './spawn-tool.ts';
import { supervise } from './supervise.ts';
import { type AttemptResult, windDown } from './wind-down.ts';

/**
 * Starts the tool once and supervises it to its end. Whatever throws, nothing of the tool is alive when this returns, and everything
 * acquired for it is released, in the reverse order.
 */
export async function runAttempt(
  services: RunnerServices,
  plan: ToolPlan,
  writer: RunWriter,
  options: AttemptOptions,
): Promise<AttemptResult> {
  const attempt: AttemptContext = {
    services,
    plan,
    writer,
    options,
    adapter: await services.loadAdapter(plan.tool.adapter),
    race: new EndingRace(),
    intake: new Intake(writer.log, {
      runId: plan.runId,
      mayEmitTasks: plan.tool.manifest.role === 'orchestrator',
      onQuestion(event) {
        options.turn?.asked(event);
        options.questions.ask(event);
      },
    }),
  };
  // Before all else: the secrets of the run are on disk by now, and go with a supervisor that is killed.
  using watchdog = new Watchdog(services.runtime, plan.runId, writer.layout.secrets);
  await using ownership = await assignRunUser(attempt);
  using input = await openInput(attempt);
  using output = await openOutput(attempt, input);
  await using resources = await prepareResources(attempt);
  const prepared = { watchdog, ownership, input, output, resources };
  await using tool = await spawnTool(attempt, prepared);
  await using supervision = supervise(attempt, prepared, tool);
  await attempt.race.first;
  return await windDown(attempt, prepared, tool, supervision);
}
