const END = ['\r', '\n'];
const ERASE = ['\u007f', '\b'];
const ERASE_ALL = '\u0015';
/** Ctrl-C and Ctrl-D. */
const LEAVE = ['\u0003', '\u0004'];

/** Asks the person at the terminal for one line, and does not show what they type; undefined when they leave it, whatever was typed by then. The question goes to stderr. */
export async function askHidden(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  stdin.setRawMode(true);
  stderr.write(question);
  let typed: string[] = [];
  try {
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const char of String(chunk)) {
        if (END.includes(char)) return typed.join('');
        if (LEAVE.includes(char)) return undefined;
        if (ERASE.includes(char)) typed.pop();
        else if (char === ERASE_ALL) typed = [];
        else typed.push(char);
      }
    }
    // The terminal is gone.
    return undefined;
  } finally {
    stdin.setRawMode(false);
    stderr.write('\n');
  }
}
