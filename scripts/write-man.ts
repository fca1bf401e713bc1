import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { categoryOf, loadAll } from '../src/compose/catalog.ts';
import { globalRows, helpWords, type Row } from '../src/compose/help-words.ts';
import { ROUTES } from '../src/operations/index.ts';
import { ACOR_VERSION } from '../src/util/version.ts';

// Writes man/acor.1 from the operations. With --check it writes nothing, and exits 1 when the page is stale.

const PAGE = fileURLToPath(new URL('../man/acor.1', import.meta.url));

const fresh = await page();
if (process.argv.includes('--check')) {
  if (fresh !== present()) {
    process.stderr.write('man/acor.1 is stale. Write it again: node_modules/.bin/bun scripts/write-man.ts\n');
    process.exitCode = 1;
  }
} else {
  mkdirSync(fileURLToPath(new URL('../man/', import.meta.url)), { recursive: true });
  writeFileSync(PAGE, fresh);
}

async function page(): Promise<string> {
  const commands = await loadAll(ROUTES);
  const groups = Map.groupBy(commands, ({ op }) => categoryOf(op));
  return [
    '.\\" Written by scripts/write-man.ts.',
    `.TH ACOR 1 "" "acor ${ACOR_VERSION}" "User Commands"`,
    '.SH NAME',
    'acor \\- run command\\-line tools for AI agents: checked, supervised, limited, recorded',
    '.SH SYNOPSIS',
    '.B acor',
    '.I command',
    text('[flags]'),
    '.SH DESCRIPTION',
    text(
      'An agent or a person decides; tools do. Each call of a tool is a run: its arguments are checked, it is held by a sandbox,',
    ),
    text('deadlines and limits, and all that it says is recorded below .runs/.'),
    text('Where stdout is no terminal every answer is one JSON envelope. An agent begins with'),
    '.BR "acor explain" .',
    ...[...groups].flatMap(([category, group]) => [
      `.SH ${category.toUpperCase()} COMMANDS`,
      ...group.flatMap(({ command, op }) => {
        const { usage, about, places, flags, examples } = helpWords(op, `acor ${command}`);
        return [
          `.SS ${quoted(`acor ${command}`)}`,
          ...about.flatMap((line) => [text(line), '.br']).slice(0, -1),
          '.PP',
          `.B ${quoted(usage)}`,
          ...[...places, ...flags].flatMap(entry),
          '.PP',
          text(examples.length > 1 ? 'Examples:' : 'Example:'),
          '.PP',
          '.nf',
          '.RS',
          ...examples.map(text),
          '.RE',
          '.fi',
        ];
      }),
    ]),
    '.SH GLOBAL FLAGS',
    ...globalRows(new Set()).flatMap(entry),
    '.SH EXIT STATUS',
    ...entry(['0', 'Done.']),
    ...entry(['1', 'Failed.']),
    ...entry([
      '2',
      'Blocked: something must be provided first, such as an answer, an approval or a runtime.',
    ]),
    '.SH FILES',
    ...entry(['.acor/config.yaml', 'The configuration of a project.']),
    ...entry(['.runs/', 'Its runs.']),
    '',
  ].join('\n');
}

function entry([name, about]: Row): string[] {
  return ['.TP', `.B ${quoted(name)}`, text(about === '' ? '\\&' : about)];
}

/** A line of text: neither its first character nor a backslash is taken for a request. */
function text(line: string): string {
  if (line === '\\&') return line;
  return escaped(line).replace(/^[.']/, '\\&$&');
}

function quoted(words: string): string {
  return `"${escaped(words).replaceAll('"', '\\(dq')}"`;
}

function escaped(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('…', '...')
    .replaceAll('×', '\\(mu')
    .replaceAll('–', '\\(en')
    .replaceAll('’', '\\(cq');
}

function present(): string {
  try {
    return readFileSync(PAGE, 'utf8');
  } catch {
    return '';
  }
}
