import type { NextStep } from '../compose/next-step.ts';
import type { AcorApp } from '../operations/acor-app.ts';
import { calledWith } from '../operations/called-with.ts';
import { commandOf, type OperationName, SERVERS } from '../operations/command-forms.ts';
import type { ProjectHost } from '../operations/project-host.ts';

/** A next step: a request to this server and the command that does the same, or a command alone. */
export type NextRequest =
  | { method: 'POST'; path: string; body: Record<string, unknown>; command: string; why: string }
  | { command: string; why: string };

/** Where operations are called, each by its name. */
export const OPERATIONS_PATH = '/api/v1/';

/** The next steps as requests. A step that the server does not offer to the client is a command for a shell. */
export async function nextRequests(
  host: ProjectHost,
  steps: readonly NextStep[],
  app: AcorApp,
): Promise<NextRequest[]> {
  return Promise.all(
    steps.map(async (step) => {
      const { why } = step;
      const command = commandOf(step);
      if ('command' in step) return { command, why };
      const operation = step.operation as OperationName;
      if (SERVERS.includes(operation)) return { command, why };
      if (!(await app.isAllowed(calledWith(await host.load(operation), step.input), step.input)))
        return { command, why };
      return { method: 'POST', path: OPERATIONS_PATH + operation, body: { ...step.input }, command, why };
    }),
  );
}
