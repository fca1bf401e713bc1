import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Person, ProgramQuestion } from './person.ts';
import type { Terminal } from './terminal.ts';
import { safeLine } from './terminal-text.ts';

/** The prompts of an application without renderings of its own: a line of text for each question. */
export const plainTerminal: Terminal = {
  presenter: async () => undefined,
  person: (_screen, note): Person => ({
    say: note,
    async askForText(lines, message) {
      for (const line of lines) note(line);
      return (await readLine(`${safeLine(message)}: `, true)) ?? '';
    },
    askForSecret: (message) => readLine(`${safeLine(message)}: `, false),
    ask: (question, check, signal) => askQuestion(question, check, { note, signal }),
  }),
};

/** Asks until the answer is accepted; undefined when the person ends the input. */
async function askQuestion(
  { msg, action, options = [], default: preset }: ProgramQuestion,
  check: (value: unknown) => string | undefined,
  { note, signal }: { note: (line: string) => void; signal: AbortSignal },
): Promise<{ value: unknown } | undefined> {
  note(msg ?? action);
  options.forEach(({ id, label = id, description }, index) => {
    note(`  ${index + 1}) ${label}${description === undefined ? '' : `  ${description}`}`);
  });
  while (!signal.aborted) {
    const typed = await readLine('> ', true);
    if (typed === undefined) return undefined;
    if (typed === '' && preset !== undefined) return preset;
    const chosen = options[Number(typed) - 1]?.id ?? typed;
    const isOffered = options.length === 0 || options.some(({ id }) => id === chosen);
    const problem = isOffered ? check(chosen) : `choose one of 1 to ${options.length}`;
    if (problem === undefined) return { value: chosen };
    note(problem);
  }
  return undefined;
}

/** One line from the terminal, prompted for on stderr; undefined at the end of the input. */
function readLine(prompt: string, isShown: boolean): Promise<string | undefined> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isShown ? process.stderr : silent,
    terminal: true,
    prompt: isShown ? prompt : '',
  });
  // The terminal shows nothing that is typed from here on but what the interface echoes.
  if (!isShown) process.stderr.write(prompt);
  lines.prompt();
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('SIGINT', () => lines.close());
    lines.once('close', () => {
      if (!isShown) process.stderr.write('\n');
      resolve(undefined);
    });
  });
}
