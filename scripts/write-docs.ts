import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RULES as CONTRACT } from '../src/core/authoring/contract/rules.ts';
import { RULES } from '../src/core/authoring/validation/rules.ts';
import { commandOf, fixText } from '../src/operations/command-forms.ts';
import { ERROR_CODES, type ErrorInfo } from '../src/protocol/error-codes.ts';
import { isFinal, RUN_STATES, type RunState } from '../src/protocol/run.ts';

// Writes the tables of docs/ that come from the code, each between its two markers. With --check it writes nothing, and exits 1
// naming what is stale.

interface Table {
  file: string;
  name: string;
  text: () => string;
}

const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));

const TABLES: readonly Table[] = [
  { file: 'errors.md', name: 'error-codes', text: errorTable },
  { file: 'protocol.md', name: 'run-states', text: stateTable },
  { file: 'compose.md', name: 'contract', text: contractTable },
  { file: 'validate.md', name: 'rules', text: ruleTable },
];

const check = process.argv.includes('--check');
const problems = TABLES.map((table) => settle(table)).filter((problem) => problem !== undefined);
if (problems.length > 0) {
  for (const problem of problems) process.stderr.write(`docs/${problem}\n`);
  process.stderr.write('Write them again: node_modules/.bin/bun scripts/write-docs.ts\n');
  process.exitCode = 1;
}

/** Brings one table up to date, or says what is wrong with it. */
function settle({ file, name, text }: Table): string | undefined {
  const page = readFileSync(DOCS + file, 'utf8');
  const begin = `<!-- ${name}: written by scripts/write-docs.ts -->\n`;
  const end = `<!-- /${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) return `${file} lacks the markers ${begin.trim()} and ${end}`;
  const fresh = `${page.slice(0, from)}${begin}\n${text()}\n\n${page.slice(to)}`;
  if (fresh === page) return undefined;
  if (check) return `${file}: the table '${name}' is stale`;
  writeFileSync(DOCS + file, fresh);
  return undefined;
}

function contractTable(): string {
  return markdown(
    ['rule', 'weight', 'section of the contract', 'requirement', 'what it costs an agent'],
    Object.entries(CONTRACT).map(([id, { section, source, impact, weight }]) => [
      `\`${id}\``,
      String(weight),
      section,
      source.replaceAll('<', '\\<'),
      impact,
    ]),
  );
}

function errorTable(): string {
  const rows: [string, ErrorInfo][] = Object.entries(ERROR_CODES);
  return markdown(
    ['code', 'class', 'retryable', 'exit', 'what an agent does', 'how it is put right'],
    rows.map(([code, row]) => [
      `\`${code}\``,
      row.class,
      row.retryable ? 'yes' : 'no',
      String(row.exit),
      row.action,
      fixText({ fix: row.hint, ...(row.next && { next: row.next }) }, commandOf),
    ]),
  );
}

function stateTable(): string {
  return markdown(
    ['state', 'may be followed by'],
    (Object.keys(RUN_STATES) as RunState[]).map((state) => {
      const next = RUN_STATES[state].map((name) => `\`${name}\``).join(', ');
      return [`\`${state}\``, isFinal(state) ? 'nothing: the run has ended' : next];
    }),
  );
}

function ruleTable(): string {
  return markdown(
    ['rule', 'about', 'severity', 'what is asked for', 'what `--fix` does'],
    Object.entries(RULES).map(([rule, { about, severity, asks, fixed = '' }]) => [
      `\`${rule}\``,
      about,
      severity,
      asks,
      fixed,
    ]),
  );
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
