import { GLOBAL_FLAGS } from '../globals.ts';
import type { Parameter } from '../parameters.ts';

/** A possible word at the cursor. */
export interface Candidate {
  value: string;
  /** A short description. */
  about: string;
}

/** The candidates at the cursor; with `files`, also any path. */
export interface Completion {
  candidates: Candidate[];
  files: boolean;
}

/** The flags of a command that are not used yet. */
export function ownFlags(flags: readonly Parameter[], given: ReadonlyMap<string, string>): Candidate[] {
  return flags
    .filter((each) => each.isArray || !given.has(each.key))
    .map((each) => ({
      value: each.kind === 'boolean' && each.default === true ? `--no-${each.flag}` : `--${each.flag}`,
      about: each.description,
    }));
}

/** The global flags, except those whose name the command uses for its own flag. */
export function globalFlags(own: readonly Parameter[] = []): Candidate[] {
  return GLOBAL_FLAGS.filter(({ name }) => own.every((each) => each.flag !== name)).map(
    ({ name, description }) => ({ value: `--${name}`, about: description }),
  );
}

/** The same after `--flag=`. */
export function prefixed({ candidates, files }: Completion, prefix: string): Completion {
  return { files, candidates: candidates.map(({ value, about }) => ({ value: prefix + value, about })) };
}

/** Only these candidates, no paths. */
export function words(candidates: Candidate[]): Completion {
  return { candidates, files: false };
}
