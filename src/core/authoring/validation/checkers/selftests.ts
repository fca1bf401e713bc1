import { AcorError } from '../../../../protocol/acor-error.ts';
import { describeTool, readLogs } from '../../../../protocol/next-steps.ts';
import { shellCommand } from '../../../../util/shell-words.ts';
import type { Problem } from '../../../config/problem.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import type { RunRequest } from '../../../run/run-request.ts';
import type { RunnerServices } from '../../../run/services.ts';
import { startRun } from '../../../run/start-run.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, findingsIn, manifestOf } from '../finding.ts';

/** Runs the self-tests of the tools in sequence. Each is an ordinary run with limits and a record. */
export const selftests: Checker = {
  name: 'selftests',
  isAsked: (options) => options.selftest,
  async check({ tools, env, cwd }, { services, onInterrupt, onUntested }) {
    const findings: Finding[] = [];
    let interrupt: { signal: string; count: number } | undefined;
    let run: Awaited<ReturnType<typeof startRun>> | undefined;
    const stop = () => {
      if (interrupt !== undefined)
        run?.cancel(`interrupted by ${interrupt.signal}`, { force: interrupt.count > 1 });
    };
    const stopListening = onInterrupt((signal, count) => {
      interrupt = { signal, count };
      stop();
    });
    try {
      for (const tool of tools) {
        const planned =
          interrupt === undefined ? planOf(tool) : { why: `interrupted by ${interrupt.signal}` };
        if ('why' in planned) {
          onUntested?.(tool, planned.why);
          continue;
        }
        const request = { kind: 'tool', tool: tool.name, args: planned.args, cwd, env } as const;
        const result = await resultOf(tool, services, request, (started) => {
          run = started;
          stop();
        });
        findings.push(...result.findings);
        if (result.why !== undefined) onUntested?.(tool, result.why);
      }
    } finally {
      stopListening();
    }
    return findings;
  },
};

/** The arguments of a self-test, or why it cannot run. */
function planOf({ manifest, problems }: ToolEntry): { args: string[] } | { why: string } {
  if (problems.length > 0) return { why: 'the tool cannot be used, see its findings' };
  const args = manifest.health?.selftest;
  return args === undefined ? { why: 'the manifest declares no self-test' } : { args };
}

/** What the self-test of a tool finds, and why it did not run. */
async function resultOf(
  tool: ToolEntry,
  services: () => Promise<RunnerServices>,
  request: RunRequest,
  onStart: (run: Awaited<ReturnType<typeof startRun>>) => void,
): Promise<{ findings: Finding[]; why?: string }> {
  try {
    const failure = await whyFailed(testing(await services(), tool), request, onStart);
    return { findings: failure === undefined ? [] : [await failed(tool, failure)] };
  } catch (error) {
    // Every self-test would meet the same mistakes, so they are reported at their places, and not for each tool.
    const findings = mistakesIn(error);
    if (findings === undefined) throw error;
    return { findings, why: 'a file of configuration or a policy is invalid' };
  }
}

/** The mistakes in configuration, policies and error codes, for which no run starts. */
function mistakesIn(error: unknown): Finding[] | undefined {
  return error instanceof AcorError && error.code === 'E_CONFIG_INVALID' ? findingsIn(error) : undefined;
}

/** The tool with the self-test's arguments. The exit code is the result; a tool that speaks the protocol may report its own error. */
function testing(services: RunnerServices, tool: ToolEntry): RunnerServices {
  const { inputs: _, input_schema: __, output_schema: ___, ...manifest } = tool.manifest;
  const adapter = tool.adapter === 'jsonl' ? 'jsonl' : 'plain';
  const tested: ToolEntry = {
    ...tool,
    adapter,
    manifest: { ...manifest, adapter, output: 'text', strict: false },
  };
  return {
    ...services,
    registry: {
      find: async () => tested,
      list: async () => [tested],
      errorCodes: () => services.registry.errorCodes(),
      languages: () => services.registry.languages(),
    },
  };
}

async function whyFailed(
  services: RunnerServices,
  request: RunRequest,
  onStart: (run: Awaited<ReturnType<typeof startRun>>) => void,
): Promise<Pick<Problem, 'message' | 'fix' | 'next'> | undefined> {
  try {
    const run = await startRun(services, request);
    onStart(run);
    const { state, message, hint, code } = await run.ended;
    if (state === 'completed') return undefined;
    return {
      message: `${code ?? state}${message === null ? '' : `: ${message}`}`,
      fix: `${hint === null ? '' : `${hint} `}The self-test is the call '${shellCommand([request.tool, ...request.args])}': correct the tool, or write arguments with which it ends with exit code 0 under health.selftest. Read the events of the run.`,
      next: [readLogs(run.runId)],
    };
  } catch (error) {
    if (!(error instanceof AcorError) || mistakesIn(error) !== undefined) throw error;
    return {
      message: `${error.code}: ${error.message}`,
      fix: error.hint ?? 'See the inputs of the tool.',
      next: error.next ?? (error.hint === undefined ? [describeTool(request.tool)] : []),
    };
  }
}

async function failed(tool: ToolEntry, failure: Pick<Problem, 'message' | 'fix' | 'next'>): Promise<Finding> {
  const { file, yaml } = (await manifestOf(tool))!;
  return findingOf({
    file,
    ...yaml.placeOf(['health', 'selftest']),
    rule: 'selftest',
    ...failure,
    message: `the self-test of '${tool.name}' failed: ${failure.message}`,
  });
}
