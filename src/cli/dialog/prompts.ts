import { isCancel, password, text } from '@clack/prompts';
import { safeLine } from '../../compose/terminal-text.ts';
import { prompting } from './prompt-streams.ts';

/** Shows lines and asks for one line of text; empty when the person cancels. */
export async function promptForText(
  lines: readonly string[],
  message: string,
  draws: boolean,
): Promise<string> {
  // Each is one line: a manifest's text must not look like ACOR's own.
  process.stdout.write(`${lines.map(safeLine).join('\n')}\n`);
  const typed = await prompting({ draws, echoes: true }, (streams) =>
    text({ message: safeLine(message), ...streams }),
  );
  return isCancel(typed) ? '' : typed.trim();
}

/** Asks for one line without showing anything, not even its length; undefined when the person cancels. */
export async function promptForSecret(message: string, draws: boolean): Promise<string | undefined> {
  const typed = await prompting({ draws }, (streams) =>
    password({ message: safeLine(message), mask: '', ...streams }),
  );
  return isCancel(typed) ? undefined : typed;
}
