import type { OperationContext } from '../../compose/operation.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import type { AcorApp } from '../acor-app.ts';

const NO_STDIN =
  'the program does not get your standard input, which holds data: write them to a file, and name it as an argument. If they are for another command, start this one with < /dev/null';

/**
 * Warns a caller whose data the program does not get (contract §2), so that its answer to an empty input does not look like that to the
 * data. The returned function looks again at the end of the run: another program of the caller's pipe may write late.
 */
export async function warnOfStdin(
  found: ToolEntry,
  ctx: OperationContext<AcorApp>,
): Promise<() => Promise<void>> {
  let isWarned = false;
  const look = async () => {
    if (isWarned || !(await ctx.hasUnreadStdin?.())) return;
    isWarned = true;
    ctx.app.warn(NO_STDIN);
  };
  // A tool that writes the protocol and has a manifest was written for answers on its standard input.
  const isForeign = found.adapter !== 'jsonl' || (found.manifestPath === null && !found.hasHeader);
  if (isForeign) await look();
  return look;
}
