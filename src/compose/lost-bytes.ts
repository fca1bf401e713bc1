import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { AppError } from './app-error.ts';

/**
 * Throws E_USAGE for a command line of this process that is not UTF-8: the runtime has put U+FFFD in place of bytes, so the program would get
 * other words than the caller gave. A caller may also have written that character.
 */
export function refuseLostBytes(argv: readonly string[]): void {
  if (isUtf8(ownCommandLine())) return;
  const word = argv.find((each) => each.includes('\uFFFD'))!;
  throw new AppError(
    'E_USAGE',
    `the argument '${word}' is not UTF-8, so it could only be passed on as another one`,
    {
      hint: 'Give it in UTF-8. A file whose name is not UTF-8 must be renamed first.',
    },
  );
}

/** Empty where the system does not show it. */
function ownCommandLine(): Uint8Array {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return new Uint8Array();
  }
}
