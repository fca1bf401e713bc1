import type { RunOfTool, TestProject } from './project.ts';

/** The input of a tool that runs the script that its caller passes. */
export const SCRIPT_INPUT = 'inputs:\n  - { name: script, type: string, required: true, positional: true }\n';

/** The entry of such a tool. */
export const RUNS_SCRIPT = '#!/bin/bash\n[ "$1" != -- ] || shift\neval "$1"\n';

/** Runs a script with such a tool. `lines` are what it prints. */
export async function runScript(
  project: TestProject,
  tool: string,
  script: string,
): Promise<RunOfTool & { lines: unknown[] }> {
  const run = await project.run([tool, script]);
  return { ...run, lines: run.of('log').map(({ msg }) => msg) };
}
