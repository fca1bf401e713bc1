import { displayWidth } from '../display-width.ts';

const LOOKS = /\x1b\[\d+m/g;

/** Erases a footer of lines that were drawn so wide, on a screen that may have become narrower and broken them since. */
export function eraseFooter(widths: readonly number[], screenWidth: number): string {
  if (widths.length === 0) return '';
  const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / screenWidth)), 0);
  return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`;
}

/** Draws a footer at the end of what is shown; the cursor stays behind it. */
export function drawFooter(lines: readonly string[]): string {
  // Terminals do not agree on the width of every character: what they take for too long is cut and not broken.
  return lines.length === 0 ? '' : `\x1b[?7l${lines.join('\n')}\x1b[?7h`;
}

/** How many columns a line takes, its looks left out. */
export function drawnWidth(line: string): number {
  return displayWidth(line.replaceAll(LOOKS, ''));
}
