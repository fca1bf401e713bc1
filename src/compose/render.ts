import { padToWidth } from './display-width.ts';
import type { EnvelopeError, EnvelopeMeta } from './envelope.ts';
import type { Screen } from './screen.ts';
import { mark, styled } from './style.ts';
import { cellText, renderTable } from './table.ts';
import { safeData, safeLine, safeText } from './terminal-text.ts';
import { wrapToWidth } from './wrap-to-width.ts';

/** Renders an answer for a person, with the operation's own presenter or the general rendering; ends in a newline, unless there is nothing to show. */
export function renderAnswer(
  data: unknown,
  meta: EnvelopeMeta,
  screen: Screen,
  render: ((data: never, screen: Screen) => string) | undefined,
): string {
  const safe = safeData(data);
  // "There are none" would be wrong of a page without an element.
  const body = isEmptyPage(data, meta)
    ? ''
    : render === undefined
      ? renderValue(safe, screen)
      : render(safe as never, screen);
  const parts = [body.trimEnd(), moreNote(meta, screen), nextLines(meta.next, screen)];
  const shown = parts.filter((part) => part !== '');
  // What is made of paragraphs is followed by one.
  const gap = body.trimEnd().includes('\n\n') ? '\n\n' : '\n';
  return shown.length === 0 ? '' : `${shown.join(gap)}\n`;
}

function isEmptyPage(data: unknown, { count, total = 0 }: EnvelopeMeta): boolean {
  const isEmpty = (value: unknown) =>
    typeof value !== 'object' || (Array.isArray(value) && value.length === 0);
  return count === 0 && total > 0 && (isRecord(data) ? Object.values(data).every(isEmpty) : isEmpty(data));
}

/** Renders a failure for a person: code, message, hint and next commands. */
export function renderFailure(error: EnvelopeError, commands: readonly string[], screen: Screen): string {
  const { code, message, hint, details } = error;
  // Wrapped, so that a narrow screen breaks no word; the commands below stay whole for copying.
  const wrap = (text: string) => wrapToWidth(safeText(text), Math.max(8, screen.width - 2)).join('\n  ');
  const head = `${mark('failed', screen)} ${safeLine(code)}`;
  const lines = [`${styled(head, 'red', screen)}${wrap(`${head}: ${message}`).slice(head.length)}`];
  lines.push(...stderrLines(details, screen));
  if (hint !== '') lines.push(`  ${wrap(hint)}`);
  const next = nextLines(commands, screen);
  if (next !== '') lines.push(next);
  return lines.join('\n') + '\n';
}

/** What the failed program wrote last, behind a bar, so that it cannot look like the words around it. */
export function stderrLines(details: unknown, screen: Screen): string[] {
  const lines = isRecord(details) && Array.isArray(details.stderr) ? details.stderr : [];
  const bar = styled(mark('gutter', screen), 'dim', screen);
  return lines
    .filter((line) => typeof line === 'string')
    .flatMap((line) => wrapToWidth(safeText(line), Math.max(8, screen.width - 2)))
    .map((line) => `${bar} ${styled(line, 'dim', screen)}`);
}

/** The general rendering: arrays of records as tables, records as keys and values. Its strings must be safe already. */
export function renderValue(value: unknown, screen: Screen): string {
  return new Rendering(screen, false).of(value);
}

/** The same, but nothing is cut: records that do not fit beside each other have their own lines. */
export function renderWhole(value: unknown, screen: Screen): string {
  return new Rendering(screen, true).of(value);
}

/** Deeper data are shown as JSON. A tool can nest them without end. */
const MAX_DEPTH = 12;

class Rendering {
  readonly #screen: Screen;
  readonly #isWhole: boolean;
  readonly #depth: number;

  constructor(screen: Screen, isWhole: boolean, depth = 0) {
    this.#screen = screen;
    this.#isWhole = isWhole;
    this.#depth = depth;
  }

  of(value: unknown): string {
    if (this.#depth > MAX_DEPTH) return cellText(value, this.#screen);
    if (Array.isArray(value)) return this.#array(value);
    if (isRecord(value)) return this.#record(value);
    return typeof value === 'string' ? value : cellText(value, this.#screen);
  }

  #array(values: readonly unknown[]): string {
    if (values.length === 0) return styled('(none)', 'dim', this.#screen);
    if (!values.every(isRecord)) return this.#list(values);
    if (this.#isWhole && values.some((each) => Object.values(each).some(isNested)))
      return values.map((each) => this.#record(each)).join('\n\n');
    const keys = [...new Set(values.flatMap((each) => Object.keys(each)))];
    // A text in the last column continues on further lines anyway.
    const whole = this.#isWhole
      ? keys.slice(0, -1)
      : keys.filter((key) => values.every((each) => isId(each[key])));
    const table = renderTable(values, this.#screen, whole);
    return table ?? values.map((each) => this.#record(each)).join('\n\n');
  }

  /** Scalars, and lists of them, on a line each; anything else behind a mark, so that it is seen where it begins. */
  #list(values: readonly unknown[]): string {
    const isFlat = values.every((each) => isScalar(each) || (Array.isArray(each) && each.every(isScalar)));
    if (isFlat)
      return values
        .map((each) => (typeof each === 'string' ? each : cellText(each ?? 'null', this.#screen)))
        .join('\n');
    const inner = this.#inside();
    return values.map((each) => `- ${indent(inner.of(each ?? 'null')).trimStart()}`).join('\n');
  }

  /** Where nothing is cut, an empty list and null differ from an empty text. */
  #nothing(value: unknown): string {
    if (!this.#isWhole) return '';
    if (Array.isArray(value)) return styled('(none)', 'dim', this.#screen);
    return value === null ? styled('null', 'dim', this.#screen) : '';
  }

  #inside(): Rendering {
    return new Rendering(narrower(this.#screen), this.#isWhole, this.#depth + 1);
  }

  #record(record: Readonly<Record<string, unknown>>): string {
    const entries = Object.entries(record)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [safeLine(key), value] as const);
    const width = Math.max(0, ...entries.filter(([, value]) => !isBlock(value)).map(([key]) => key.length));
    return entries
      .map(([key, value]) => {
        const screen = this.#screen;
        if (isBlock(value)) {
          const inner = this.#inside().of(value);
          return `${styled(key, 'bold', screen)}\n${indent(inner)}`;
        }
        const text = typeof value === 'string' ? value : cellText(value, screen) || this.#nothing(value);
        const label = styled(padToWidth(key, width), 'bold', screen);
        return `${label}  ${text.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`.trimEnd();
      })
      .join('\n');
  }
}

function isBlock(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => typeof each === 'object' && each !== null);
  return isRecord(value) && Object.keys(value).length > 0;
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** Too deep for a cell of a table. */
function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return !value.every(isScalar);
  return isRecord(value) && !Object.values(value).every(isScalar);
}

/** An id, a key or a path: never cut, so that it can be copied. */
function isId(value: unknown): boolean {
  return typeof value === 'string' && /^[\w./:@-]*[\d./:-][\w./:@-]*$/.test(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function narrower(screen: Screen): Screen {
  return { ...screen, width: Math.max(1, screen.width - 2) };
}

function moreNote(meta: EnvelopeMeta, screen: Screen): string {
  if (meta.hasMore !== true && (meta.total === undefined || meta.total === meta.count)) return '';
  const all = meta.total === undefined ? '' : ` of ${meta.total}`;
  return styled(`${meta.count ?? 0}${all} shown; there are more: --limit N --offset N`, 'dim', screen);
}

function nextLines(next: readonly string[] | undefined, screen: Screen): string {
  if (next === undefined || next.length === 0) return '';
  return [styled('Next', 'bold', screen), ...next.map((command) => `  ${safeLine(command)}`)].join('\n');
}
