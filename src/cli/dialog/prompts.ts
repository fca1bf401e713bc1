import { isCancel, password, text } from '@clack/prompts';
import { safeLine } from '../../compose/terminal-text.ts';
import { leavable } from './leavable.ts';
import { promptOutput } from './prompt-output.ts';

/** Shows lines and asks for one line of text; empty when the person leaves the question. */
export async function promptForText(lines: readonly string[], message: string): Promise<string> {
  // Each is one line: what a manifest says must not look like what ACOR says of it.
  process.stdout.write(`${lines.map(safeLine).join('\n')}\n`);
  const typed = await leavable((signal) =>
    text({ message: safeLine(message), signal, output: promptOutput() }),
  );
  return isCancel(typed) ? '' : typed.trim();
}

/** Asks for one line of which nothing is shown, not even its length; undefined when the person leaves the question. */
export async function promptForSecret(message: string): Promise<string | undefined> {
  const typed = await leavable((signal) =>
    password({ message: safeLine(message), mask: '', signal, output: promptOutput() }),
  );
  return isCancel(typed) ? undefined : typed;
}
