import { safeLine } from '../../../compose/terminal-text.ts';

/** A text of a tool's author inside a document: on one line, not too long, and none of it read as Markdown. */
export function strangerText(text: string, maxLength = 160): string {
  const cut = cutTo(safeLine(text).trim(), maxLength);
  return cut.replace(/[\\`*<[\]|!~]/g, '\\$&');
}

/** The same as code. */
export function strangerCode(text: string, maxLength = 300): string {
  return `\`${cutTo(safeLine(text).trim().replaceAll('`', "'"), maxLength)}\``;
}

function cutTo(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
}
