import { resolve } from 'node:path';
import { execName } from '../../protocol/names.ts';

/** What a program may do beyond its own folder, and what it is called with. */
export interface ExecGrants {
  read: readonly string[];
  write: readonly string[];
  net: readonly string[];
  cmd: readonly string[];
}

/** The run of a program: the words before `--` are its grants. */
export function execCall(
  program: string,
  args: readonly string[],
  { read, write, net, cmd }: ExecGrants,
  cwd: string,
): { tool: string; args: string[] } {
  const grants = Object.entries({ read, write, net, cmd }).flatMap(([kind, values]) =>
    values.flatMap((value) => [`--${kind}`, value]),
  );
  return {
    tool: execName(program.includes('/') ? resolve(cwd, program) : program),
    args: [...grants, '--', ...args],
  };
}
