import { AcorError } from '../../../protocol/acor-error.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { RunnerServices } from '../../runner/services.ts';
import { startRun } from '../../runner/start-run.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf } from '../finding.ts';
import { placesIn } from '../places-in.ts';

/** Runs the self-tests of the tools, one after the other: each is a run like any other, limited and recorded. */
export const selftests: Checker = {
  name: 'selftests',
  isAsked: (options) => options.selftest,
  async check({ tools, env, cwd }, { services, signal }) {
    const findings: Finding[] = [];
    for (const tool of tools) {
      if (signal.aborted) break;
      const args = tool.manifest.health?.selftest;
      if (args === undefined || tool.problems.length > 0) continue;
      const why = await whyFailed(
        testing(await services(), tool),
        { tool: tool.name, args, cwd, env },
        signal,
      );
      if (why !== undefined) findings.push(await failed(tool, why));
    }
    return findings;
  },
};

/** The tool as it is tested: its arguments are those of the self-test, and its exit code is the answer. */
function testing(services: RunnerServices, tool: ToolEntry): RunnerServices {
  const { inputs: _, input_schema: __, ...manifest } = tool.manifest;
  const tested: ToolEntry = {
    ...tool,
    adapter: 'plain',
    manifest: { ...manifest, adapter: 'plain', output: 'text', strict: false },
  };
  return {
    ...services,
    registry: { find: async () => tested, errorCodes: () => services.registry.errorCodes() },
  };
}

async function whyFailed(
  services: RunnerServices,
  request: { tool: string; args: string[]; cwd: string; env: Readonly<Record<string, string | undefined>> },
  signal: AbortSignal,
): Promise<{ message: string; fix: string } | undefined> {
  try {
    const run = await startRun(services, request);
    const cancel = () => run.cancel('the validation was interrupted');
    signal.addEventListener('abort', cancel, { once: true });
    const { state, message, hint, code } = await run.ended.finally(() =>
      signal.removeEventListener('abort', cancel),
    );
    if (state === 'completed') return undefined;
    return {
      message: `${code ?? state}${message === null ? '' : `: ${message}`}`,
      fix: `See what it said: acor logs ${run.runId}${hint === null ? '' : `. ${hint}`}`,
    };
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return {
      message: `${error.code}: ${error.message}`,
      fix: error.hint ?? `See: acor describe ${request.tool}`,
    };
  }
}

async function failed(
  { name, manifestPath }: ToolEntry,
  { message, fix }: { message: string; fix: string },
): Promise<Finding> {
  const yaml = await placesIn(manifestPath!);
  return findingOf({
    file: manifestPath!,
    ...yaml.placeOf(['health', 'selftest']),
    rule: 'selftest',
    message: `the self-test of '${name}' failed: ${message}`,
    fix,
  });
}
