import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorInfo } from '../../protocol/error-codes.ts';
import { execProgram } from '../../protocol/names.ts';
import { isInside } from '../../util/real-path.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { RunLog } from '../ports/run-store.ts';
import { manifestPlace } from '../registry/manifest-place.ts';
import type { Outcome } from './outcome.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

const MISSING = /no such file or directory|\bENOENT\b/i;
const MAX_LINES = 50;
const MAX_LINE_CHARS = 2000;
const MAX_NAME_CHARS = 255;

/** Relative names in programs' messages: in quotes, or before the error text. */
const NAMES = [
  /['"`‘“]([^'"`’”/][^'"`’”]*)['"`’”]/g,
  /(?:^|[\s:])([^\s:'"`/][^\s:'"`]*): (?=no such file)/gi,
];

/**
 * Warns when a failed tool missed a file by a relative name that exists where its caller is, or in the project: a tool starts in an
 * empty workspace. The outcome gets the same hint when it has no specific one.
 */
export function explainMissingFile(
  plan: ToolPlan,
  log: RunLog,
  outcome: Outcome,
  { words, project }: { words: string; project: string },
): void {
  if (plan.tool.worksIn !== undefined || plan.tool.startsIn !== undefined) return;
  const found = missingFile(words, [...new Set([plan.cwd, project])]);
  if (found === undefined) return;
  const { name, folder } = found;
  const hint = fixFor(plan, name, folder);
  log.append({
    type: 'runner_warning',
    msg: `the tool started in an empty workspace, without ${name}; there is a file ${join(folder, name)}`,
    hint,
  });
  // The hint of the error table is less specific.
  if (outcome.hint === null || outcome.hint === errorInfo(outcome.code ?? '')?.hint) outcome.hint = hint;
}

/** The first name that is a file in one of the folders. */
function missingFile(
  words: string,
  folders: readonly string[],
): { name: string; folder: string } | undefined {
  const lines = words.split('\n').slice(-MAX_LINES).toReversed();
  for (const line of lines) {
    if (line.length > MAX_LINE_CHARS || !MISSING.test(line)) continue;
    const names = NAMES.flatMap((pattern) => [...line.matchAll(pattern)].map((match) => match[1]!));
    for (const name of names) {
      if (name.length > MAX_NAME_CHARS || /\p{Cc}/u.test(name)) continue;
      const folder = folders.find((each) => isInside(join(each, name), each) && existsSync(join(each, name)));
      if (folder !== undefined) return { name, folder };
    }
  }
  return undefined;
}

function fixFor({ tool, cwd }: ToolPlan, name: string, folder: string): string {
  if (execProgram(tool.name) !== undefined)
    return `To start in this folder and read it, pass the flag ${shellCommand(['--read', folder === cwd ? '.' : folder])}`;
  const place = manifestPlace(tool);
  const argument =
    tool.manifestPath !== null || tool.hasHeader
      ? `Declare an input of type path for ${basename(name)}, and open the path that the tool gets`
      : `Pass ${basename(name)} as an argument, and open the path that the tool gets`;
  return `${argument}; or let the tool start in the project: in ${place}, write: cwd: project`;
}
