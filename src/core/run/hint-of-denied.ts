import { errorInfo } from '../../protocol/error-codes.ts';

/** What the sandbox may have denied, as its `runner_warning` has it. */
export interface Denied {
  hint: string;
  denied: readonly { said: string }[];
}

/** The hint of a failed run. A tool's own hint that only repeats what the system said is followed by the line that allows it. */
export function hintOfDenied(own: string | null, code: string | null, { hint, denied }: Denied): string {
  if (own === null || own === errorInfo(code ?? '')?.hint) return hint;
  return isSaidIn(own, denied) ? `${own}. ${hint}` : own;
}

/** Whether a tool's own words are those of a denial. */
export function isSaidIn(words: string, denied: Denied['denied']): boolean {
  return denied.some(({ said }) => words.includes(said));
}
