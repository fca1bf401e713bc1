import { readFileSync } from 'node:fs';
import { AGENT_VARIABLES } from '../../util/audience.ts';
import { findUserFile } from '../config/find.ts';
import type { LoadedConfig } from '../config/load.ts';
import { CONFIG_KEYS, variablesIn, variablesOf } from '../config/variables.ts';
import type { LaunchRequest } from '../ports/run-launcher.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { OWN_VARIABLES } from './start-supervisor.ts';

/** Variables that the supervisor reads from a request: its own, where the user's folders are, the trace of the run, and whether an agent calls. */
const READ_FROM_REQUEST = [
  ...OWN_VARIABLES,
  ...['PATHEXT', 'XDG_STATE_HOME', 'TRACEPARENT', 'TRACESTATE'],
  ...Object.keys(AGENT_VARIABLES),
];

/**
 * The part of a caller's environment that a launch request holds: what these tools may get, and what the supervisor itself reads. The
 * request crosses to another process or machine, so no other variable of the caller may be in it.
 */
export function launchEnvironment(
  { config, file }: LoadedConfig,
  tools: readonly Pick<ToolEntry, 'manifest'>[],
  env: LaunchRequest['env'],
): LaunchRequest['env'] {
  const names = new Set([
    ...READ_FROM_REQUEST,
    ...Object.keys(CONFIG_KEYS).flatMap(variablesOf),
    ...[file, findUserFile(env)].flatMap(variablesInFile),
    ...config.environment.base_allowlist,
    ...tools.flatMap(({ manifest }) => [...manifest.env.require, ...manifest.env.allow]),
  ]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.has(name)));
}

/** The variables that a configuration file refers to. The supervisor reports a file that cannot be read. */
function variablesInFile(file: string | null): string[] {
  try {
    return file === null ? [] : variablesIn(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}
