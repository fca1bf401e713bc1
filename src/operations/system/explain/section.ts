import { safeLine } from '../../../compose/terminal-text.ts';

/** A part of an explanation: its heading, and Markdown. */
export interface Section {
  heading: string;
  text: string;
  /** What the text lists, as data. */
  items?: readonly Item[];
}

export type Item = Readonly<Record<string, unknown>>;

/** A section of lines. */
export function section(heading: string, lines: readonly string[], items?: readonly Item[]): Section {
  return { heading, text: lines.join('\n'), ...(items && { items }) };
}

/** Untrusted text inside a document: one line, truncated, and escaped so that no Markdown in it takes effect. */
export function untrustedText(text: string, maxLength = 160): string {
  const cut = cutTo(safeLine(text).trim(), maxLength);
  return cut.replace(/[\\`*<[\]|!~]/g, '\\$&');
}

/** Untrusted text as inline code. With two backticks it is no command of ACOR, which a surface writes in its own words. */
export function untrustedCode(text: string, maxLength = 300): string {
  const fence = /^(?:acor |--)/.test(text.trimStart()) ? '``' : '`';
  return `${fence}${codeText(text, maxLength)}${fence}`;
}

/** A command of ACOR with untrusted words, as inline code. */
export function commandCode(text: string, maxLength = 300): string {
  return `\`${codeText(text, maxLength)}\``;
}

function codeText(text: string, maxLength: number): string {
  return cutTo(safeLine(text).trim().replaceAll('`', "'"), maxLength);
}

function cutTo(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
}
