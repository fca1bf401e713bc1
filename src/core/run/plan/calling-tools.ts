import { join } from 'node:path';
import type { Manifest } from '../../../protocol/manifest.ts';
import { trustedProgram } from '../../sandbox/trusted-program.ts';
import { callFolders, type RunWorkspace } from '../workspace.ts';

/** The programs that a tool which starts tools may start: in place of `acor`, the small program that passes its calls to the runner. */
export function commandsOfCaller({ permissions }: Manifest, workspace: RunWorkspace): string[] {
  const { programs } = callFolders(workspace);
  const perl = trustedProgram('perl');
  return [
    ...permissions.commands.filter((name) => name !== 'acor'),
    ...['tool', 'acor'].map((name) => join(programs, name)),
    ...(typeof perl === 'string' ? [] : [perl.path]),
  ];
}
