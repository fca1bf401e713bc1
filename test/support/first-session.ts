import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { splitCommand } from '../../src/util/shell-words.ts';
import { ACOR } from './project.ts';
import { atTerminal } from './terminal.ts';

/** What a person types first, in a new folder. */
const COMMANDS = [
  'acor init --template bash',
  'acor list',
  'acor run hello --who Ada',
  'acor run hello --whoo Ada',
  'acor show',
  "acor exec -- printf 'two\\nlines'",
  'acor runs',
] as const;

/** Runs them at a terminal, 100 columns wide and without drawing, and writes down what is shown. */
export async function recordFirstSession(): Promise<string> {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'acor-first-')));
  try {
    const env = { PATH: `${dirname(ACOR)}${delimiter}${process.env['PATH']}` };
    const parts: string[] = [];
    for (const command of COMMANDS) {
      const { text } = await atTerminal(splitCommand(command)!.slice(1), { cwd: project, env });
      parts.push(`\`\`\`console\n$ ${command}\n${text.replaceAll('\r', '').trimEnd()}\n\`\`\`\n`);
    }
    return parts.join('\n').replaceAll(project, '/home/you/project');
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** The same text without what differs from run to run and from machine to machine: ids, times, columns, and how the machine confines. */
export function withoutChanceAtTerminal(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^(?:●|memory |processor |sandbox )/.test(line))
    .join('\n')
    .replaceAll(/r-[0-9a-z]{16}/g, 'r-…')
    .replaceAll(/just now|\d+ \w+ ago/g, 'now')
    .replaceAll(/\d+(?:\.\d+)? (?:ms|s|min)\b/g, '0 s')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time>')
    .replaceAll(/ {2,}/g, '  ');
}
