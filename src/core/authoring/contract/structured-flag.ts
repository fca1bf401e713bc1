import type { FoundOption } from '../adopt/help-shape.ts';

const WITH_FORM = /^--(?:output|format|output-format|out|print-format|reporter)$/;

/** The arguments that ask for JSON, as the help of a command describes them; null when there are none. */
export function structuredFlag(options: readonly FoundOption[], text: string): string[] | null {
  for (const { spellings, value } of options) {
    // An option such as `curl --json <data>` takes JSON. It does not ask for it.
    const json = spellings.find((each) => each === '--json' || each === '-json');
    if (json !== undefined && (value === null || value.isOptional)) return [json];
    const template = spellings.find((each) => each === '--format');
    if (template !== undefined && value !== null && /\bgo template\b/i.test(described(text, spellings)))
      return [template, '{{json .}}'];
    const name = spellings.find((each) => WITH_FORM.test(each));
    if (name !== undefined && value !== null && saysJson(text, spellings, value.name)) return [name, 'json'];
  }
  return null;
}

/** The help names JSON as a value of the option. */
function saysJson(text: string, spellings: readonly string[], value: string): boolean {
  return /json/i.test(value) || /json/i.test(described(text, spellings));
}

/** What the help says of an option: its line, and the lines below it. */
function described(text: string, spellings: readonly string[]): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => spellings.some((each) => line.trimStart().startsWith(each)));
  if (at < 0) return '';
  const rest = lines.slice(at + 1).findIndex((line) => /^\s*-/.test(line) || line.trim() === '');
  const end = rest < 0 ? lines.length : at + 1 + rest;
  return lines.slice(at, end).join(' ');
}
