import { AcorError } from '../protocol/acor-error.ts';

const END = ['\r', '\n', '\u0004'];
const ERASE = ['\u007f', '\b'];
const ERASE_ALL = '\u0015';
const INTERRUPT = '\u0003';

/** Asks the person at the terminal for one line, and does not show what they type. The question goes to stderr. */
export async function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stdin.setRawMode(true);
  stderr.write(question);
  let typed: string[] = [];
  try {
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const char of String(chunk)) {
        if (END.includes(char)) return typed.join('');
        if (char === INTERRUPT) throw new AcorError('E_USAGE', 'nothing was typed', { hint: 'Try again.' });
        if (ERASE.includes(char)) typed.pop();
        else if (char === ERASE_ALL) typed = [];
        else typed.push(char);
      }
    }
    return typed.join('');
  } finally {
    stdin.setRawMode(false);
    stderr.write('\n');
  }
}
