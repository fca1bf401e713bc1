import type { NextStep } from '../compose/next-step.ts';
import type { AcorApp } from './acor-app.ts';
import { calledWith } from './called-with.ts';

/** The steps that the policy lets the caller take, and those that it leaves to others. */
export async function acceptedSteps(
  app: AcorApp,
  steps: readonly NextStep[],
): Promise<{ accepted: NextStep[]; refused: NextStep[] }> {
  const isAccepted = await Promise.all(steps.map((step) => accepts(app, step)));
  return {
    accepted: steps.filter((_, index) => isAccepted[index]),
    refused: steps.filter((_, index) => !isAccepted[index]),
  };
}

async function accepts(app: AcorApp, step: NextStep): Promise<boolean> {
  if ('command' in step) return true;
  const route = app.routes.find(({ operation }) => operation === step.operation);
  return route === undefined || app.policyAllows(calledWith(await route.load(), step.input), step.input);
}
