import { GLOBAL_FLAGS } from '../globals.ts';
import type { Parameter } from '../parameters.ts';

/** A word that may stand where the cursor is. */
export interface Candidate {
  value: string;
  /** A few words about it. */
  about: string;
}

/** What may stand where the cursor is; with `files`, any path as well. */
export interface Completion {
  candidates: Candidate[];
  files: boolean;
}

/** The flags of a command that may still be given. */
export function ownFlags(flags: readonly Parameter[], given: ReadonlyMap<string, string>): Candidate[] {
  return flags
    .filter((each) => each.isArray || !given.has(each.key))
    .map((each) => ({
      value: each.kind === 'boolean' && each.default === true ? `--no-${each.flag}` : `--${each.flag}`,
      about: each.description,
    }));
}

/** The global flags, but those of whose name the command has an own one. */
export function globalFlags(own: readonly Parameter[] = []): Candidate[] {
  return GLOBAL_FLAGS.filter(({ name }) => own.every((each) => each.flag !== name)).map(
    ({ name, description }) => ({ value: `--${name}`, about: description }),
  );
}

/** The same behind `--flag=`. */
export function prefixed({ candidates, files }: Completion, prefix: string): Completion {
  return { files, candidates: candidates.map(({ value, about }) => ({ value: prefix + value, about })) };
}

/** Candidates and no paths. */
export function words(candidates: Candidate[]): Completion {
  return { candidates, files: false };
}
