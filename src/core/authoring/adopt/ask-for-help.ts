import { callProgram } from './call-program.ts';
import type { HelpPlace } from './help-place.ts';

/** The output of a program. */
export interface HelpAnswer {
  /** The arguments of the program. */
  args: readonly string[];
  text: string;
  /** Why it did not start, or did not exit by itself. */
  trouble: string | null;
  /** Whether it ended with exit code 0. */
  succeeded: boolean;
}

/** Runs an unknown program with arguments that ask for its help. */
export async function askForHelp(place: HelpPlace, args: readonly string[]): Promise<HelpAnswer> {
  const { stdout, stderr, rc, trouble } = await callProgram(place, args);
  return { args, text: stdout.trim() === '' ? stderr : stdout, trouble, succeeded: rc === 0 };
}
