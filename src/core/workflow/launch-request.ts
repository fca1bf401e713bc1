import type { LaunchRequest } from '../ports/run-launcher.ts';
import type { RunRequest } from '../run/run-request.ts';
import type { RunnerServices } from '../run/services.ts';
import { launchEnvironment } from '../supervision/launch-environment.ts';
import { calledTools } from './called-tools.ts';

/** A request as data, for another process or machine. Of the caller's environment it holds only what the run may use. */
export async function launchRequestOf(
  services: RunnerServices,
  { found, readStdin, input, onQuestion, ...request }: RunRequest,
): Promise<LaunchRequest> {
  const tools = found === undefined ? await calledTools(services, request) : [found];
  return {
    ...request,
    env: launchEnvironment(services.config, tools, request.env),
    ...(readStdin && { stdin: readStdin() }),
    ...(input && { input: Buffer.from(input).toString('base64') }),
  };
}
