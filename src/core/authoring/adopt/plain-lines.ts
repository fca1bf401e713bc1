// CSI sequences, then OSC sequences to their end, then the remaining two-character escapes.
const ESCAPES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g;
const OTHER_CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const TAB_STOP = 8;
/** Programs that do not wrap their lines have shorter ones. What reads a line may take time quadratic in it. */
const MAX_LINE_CHARS = 2000;

/** The lines of a help text as a reader sees them, with overstrikes, colours and tabs resolved. */
export function plainLines(text: string): string[] {
  const lines = text
    .replaceAll('\r\n', '\n')
    .replace(/[^\n]\x08/g, '')
    .replace(ESCAPES, '')
    .replaceAll('\u2026', '...')
    .split('\n')
    .map((line) => withoutTabs(line).replace(OTHER_CONTROLS, '').slice(0, MAX_LINE_CHARS).trimEnd());
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1]?.trimStart() ?? '';
    // The spellings of one option may be on several lines.
    if (
      line.length > MAX_LINE_CHARS ||
      !/^\s+-.*[^ ],$/.test(line) ||
      !next.startsWith('-') ||
      line.includes('  -') !== /^\s{2,}-/.test(line)
    )
      continue;
    lines[index + 1] = `${line} ${next}`;
    lines[index] = '';
  }
  return lines;
}

function withoutTabs(line: string): string {
  let plain = '';
  for (const char of line) {
    plain += char === '\t' ? ' '.repeat(TAB_STOP - (plain.length % TAB_STOP)) : char;
  }
  return plain;
}

/** The column at which a line begins. */
export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
