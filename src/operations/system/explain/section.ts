/** A part of an explanation: its heading, and Markdown. */
export interface Section {
  heading: string;
  text: string;
}

/** A section of lines. */
export function section(heading: string, lines: readonly string[]): Section {
  return { heading, text: lines.join('\n') };
}
