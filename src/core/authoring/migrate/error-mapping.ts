import type { ErrorRule } from '../../../protocol/manifest-output.ts';
import { escapePattern } from '../../../util/escape-pattern.ts';
import { blockedBy } from '../contract/blocked.ts';
import { callsFor, type Observed } from '../contract/observe.ts';

/** What the audit saw of the failures of a program, as rules for its tools. */
export interface ErrorMapping {
  errors: ErrorRule[];
  exit_codes: { ok: number; [name: string]: number };
}

/** A rule for each failure that a prerequisite blocked, for usage errors, and for objects that do not exist. */
export function errorMapping(observed: Observed): ErrorMapping {
  const errors = new Map<string, ErrorRule>();
  const blocked = observed.calls.flatMap((call) => {
    const said = blockedBy(call);
    return said === undefined ? [] : [{ said, rc: call.rc! }];
  });
  for (const { said, rc } of blocked)
    errors.set(`${said}\0${rc}`, {
      exit: rc,
      match: escapePattern(said),
      code: 'E_ENV_MISSING',
      hint: 'Provide what the message names, then call it again.',
    });
  const exitOf = (...purposes: Parameters<typeof callsFor>[1][]) => {
    const exits = new Set(
      callsFor(observed, ...purposes)
        .filter((call) => blockedBy(call) === undefined)
        .map(({ rc }) => rc),
    );
    const [only] = exits;
    return exits.size === 1 && typeof only === 'number' && only !== 0 ? only : undefined;
  };
  const usage = exitOf('unknown-option');
  const missing = exitOf('missing-object');
  // An exit code that means both says nothing by itself.
  if (missing !== undefined && missing !== usage)
    errors.set('missing', { exit: missing, code: 'E_INPUT_NOT_FOUND' });
  if (usage !== undefined && usage !== missing) errors.set('usage', { exit: usage, code: 'E_USAGE' });
  const codes = [...new Set([...errors.values()].map(({ exit }) => exit!))].sort((a, b) => a - b);
  return {
    errors: [...errors.values()],
    exit_codes: { ok: 0, ...Object.fromEntries(codes.map((code) => [`fatal_${code}`, code])) },
  };
}
