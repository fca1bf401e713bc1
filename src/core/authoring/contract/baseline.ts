import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Finding } from './finding.ts';
import { SEVERITIES } from './rules.ts';

const known = z.object({ rule: z.string(), severity: z.enum(SEVERITIES), commands: z.array(z.string()) });
const report = z.object({ findings: z.array(known) });
/** An audit as it was saved: the envelope, its data, or the details of a failure. */
const saved = z.union([
  report,
  z.object({ data: report }).transform(({ data }) => data),
  z.object({ error: z.object({ details: report }) }).transform(({ error }) => error.details),
]);

type Known = z.output<typeof known>;

/** Reads the findings of an earlier audit. Throws E_USAGE for any other file. */
export function readBaseline(file: string): Known[] {
  try {
    return saved.parse(JSON.parse(readFileSync(file, 'utf8'))).findings;
  } catch (error) {
    throw new AcorError(
      'E_USAGE',
      `'${file}' is not the answer of an audit: ${String(error).slice(0, 200)}`,
      {
        hint: 'Save the JSON answer of an audit, and name that file.',
      },
    );
  }
}

/**
 * Whether a baseline has a finding: one of the same rule that is at least as severe and names all of its commands. A
 * project therefore holds its level, and a new command must not add to it.
 */
export function isKnown({ rule, severity, commands }: Finding, baseline: readonly Known[]): boolean {
  return baseline.some(
    (each) =>
      each.rule === rule &&
      SEVERITIES.indexOf(each.severity) <= SEVERITIES.indexOf(severity) &&
      commands.every((command) => each.commands.includes(command)),
  );
}
