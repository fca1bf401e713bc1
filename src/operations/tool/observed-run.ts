import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  type Learned,
  leastPermissions,
  type Refused,
} from '../../core/authoring/learn/least-permissions.ts';
import { TraceReader } from '../../core/authoring/learn/read-trace.ts';
import { readEvents } from '../../core/run/read-log.ts';
import type { ObservedTool } from '../../core/run/run-request.ts';
import { withPort } from '../../core/sandbox/egress/host.ts';
import { executablePaths, runtimePaths } from '../../core/sandbox/profile/programs.ts';
import { interpretersOf } from '../../util/interpreters.ts';

const MAX_LINES = 2_000_000;

/** What a run has shown that its tool needs. */
export interface Observation {
  learned: Learned[];
  refused: Refused[];
  /** Whether there was more than ACOR reads. */
  isCut: boolean;
}

/** Reads the system calls and the connections of an observed run. */
export async function readObservation(
  store: Parameters<typeof readEvents>[0],
  runId: string,
  trace: string,
  { sandbox, argumentGrants }: ObservedTool,
  { project }: { project: string },
): Promise<Observation> {
  const reader = new TraceReader(sandbox.argv[0]);
  let lines = 0;
  const input = createReadStream(trace);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (++lines > MAX_LINES) break;
    reader.add(line);
  }
  input.destroy();
  const { folders, toolDir, libraries } = sandbox;
  const found = leastPermissions(reader.uses.values(), {
    project,
    own: [...folders.writable, ...folders.readable, toolDir, ...libraries, ...runtimePaths(sandbox)],
    workspace: folders.writable,
    argumentGrants,
    granted: sandbox.grants.map(({ path }) => path),
    hidden: sandbox.hidden,
    executable: {
      alone: executablePaths({ ...sandbox, commands: [] }),
      // Any name: with one, a shell may start less.
      withCommands: executablePaths({ ...sandbox, commands: ['true'] }),
    },
    path: sandbox.path,
    interpretersOf: (program) => interpretersOf(program, sandbox.path),
  });
  await addHosts(store, runId, found);
  return { ...found, isCut: reader.isCut || lines > MAX_LINES };
}

/** The hosts, as the gateway of the run has recorded them. */
async function addHosts(
  store: Parameters<typeof readEvents>[0],
  runId: string,
  { learned, refused }: Pick<Observation, 'learned' | 'refused'>,
): Promise<void> {
  const seen = new Set<string>();
  for await (const { type, host, port, address, code } of readEvents(store, runId, { wait: false })) {
    if (typeof host !== 'string' || !['runner_log', 'runner_warning'].includes(String(type))) continue;
    const value = typeof port === 'number' ? withPort(host, port) : host;
    if (seen.has(value)) continue;
    seen.add(value);
    if (type === 'runner_log')
      learned.push({
        permission: 'network.egress_allow',
        value,
        evidence: `connection to ${value}, at ${String(address)}`,
      });
    else refused.push({ what: `connect to ${value}`, why: String(code ?? 'it could not be reached') });
  }
}
