import { AppError } from '../../compose/app-error.ts';
import type { OperationContext } from '../../compose/operation.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { execProgram } from '../../protocol/names.ts';
import type { AcorApp } from '../acor-app.ts';

const IN_A_FILE = 'write them to a file, and name it as an argument';

/** All of the caller's standard input, for a program that gets it. */
export async function callersInput({ readStdinBytes }: OperationContext<AcorApp>): Promise<Uint8Array> {
  if (readStdinBytes === undefined) {
    throw new AppError(
      'E_USAGE',
      '--read - means the standard input of the caller, and this caller has none',
      {
        hint: 'Write the data to a file, and name it as an argument.',
      },
    );
  }
  return readStdinBytes();
}

/**
 * Warns a caller whose data the program does not get (contract §2), so that its answer to an empty input does not look like that to the
 * data. The returned function looks again at the end of the run: another program of the caller's pipe may write late.
 */
export async function warnOfStdin(
  found: ToolEntry,
  ctx: OperationContext<AcorApp>,
): Promise<() => Promise<void>> {
  let isWarned = false;
  const fix = execProgram(found.name) === undefined ? IN_A_FILE : `pass the flag --read -, or ${IN_A_FILE}`;
  const look = async () => {
    if (isWarned || !(await ctx.hasUnreadStdin?.())) return;
    isWarned = true;
    ctx.app.warn(
      `the program does not get your standard input, which holds data: ${fix}. If the data are for another command, start this one with < /dev/null`,
    );
  };
  // A tool that writes the protocol and has a manifest was written for answers on its standard input.
  const isForeign = found.adapter !== 'jsonl' || (found.manifestPath === null && !found.hasHeader);
  if (isForeign) await look();
  return look;
}
