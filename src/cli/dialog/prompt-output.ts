import type { Writable } from 'node:stream';

const SIZE = { columns: 80, rows: 24 };

/** Where prompts are drawn. A pseudo-terminal that nobody has given a size says 0 by 0, and prompts would break every line after each letter. */
export function promptOutput(): Writable {
  const { stdout } = process;
  return stdout.columns > 0 ? stdout : Object.assign(Object.create(stdout) as Writable, SIZE);
}
