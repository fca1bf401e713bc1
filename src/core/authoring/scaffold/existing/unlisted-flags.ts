import type { ToolEntry } from '../../../registry/registry.ts';
import { type PlannedFile, textAt } from '../planned-file.ts';

const MOST_NAMED = 5;
const QUOTED_FLAG = /(["'])(--[a-z][a-z0-9_-]*)\1/g;
/** No caller passes these as arguments. */
const OF_PEOPLE = ['--help', '--version'];

/** The old runner passed any argument on; ACOR refuses those that the manifest does not list. */
export function unlistedFlags({ manifest, manifestPath, entry }: ToolEntry): PlannedFile[] {
  const { inputs, extra_args, health } = manifest;
  if (manifestPath === null || entry === null || inputs === undefined || extra_args) return [];
  const known = new Set<unknown>([
    ...inputs.map(({ name, flag }) => flag ?? `--${name.replaceAll('_', '-')}`),
    ...Object.values(health ?? {}).flat(),
    ...OF_PEOPLE,
  ]);
  const written = [...(textAt(entry) ?? '').matchAll(QUOTED_FLAG)].map(([, , flag]) => flag!);
  const found = [...new Set(written)].filter((flag) => !known.has(flag)).slice(0, MOST_NAMED);
  if (found.length === 0) return [];
  const names = found.map((flag) => `{ name: ${flag.slice(2).replaceAll('-', '_')} }`);
  return [
    {
      path: manifestPath,
      action: 'keep',
      why: `its program has ${found.join(', ')}, which the manifest does not list: ACOR refuses arguments that are not listed`,
      by_hand: `If callers pass them, add to inputs: ${names.join(', ')}`,
    },
  ];
}
