import type { Violation } from '../policy/decision.ts';
import { type PolicyLayer, placeIn } from '../policy/policy-layer.ts';
import type { EngineQuestion } from './engine.ts';

/** Asks the policy engine of each layer. All must allow the run. */
export async function askEngines(
  layers: readonly PolicyLayer[],
  question: EngineQuestion,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const layer of layers) {
    const { engine, command, cedar } = layer.policy;
    const by = placeIn(layer, 'engine');
    if (engine === 'command') {
      const { askCommand } = await import('./engine-command.ts');
      violations.push(...(await askCommand(command!, question, by, env)));
    }
    if (engine === 'cedar') {
      const { askCedar } = await import('./engine-cedar.ts');
      violations.push(...(await askCedar(cedar!.policies, layer.file, question, by)));
    }
  }
  return violations;
}
