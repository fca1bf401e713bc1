// Follows docs/getting-started.md in a new folder, as a newcomer does, and prints how long it takes. Pass the folder of the `acor` to try.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { followFirstPage, personSeconds } from '../test/support/first-page.ts';

const bin = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-first-page-')));
try {
  const env = { PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: folder };
  const took = followFirstPage({ folder, env });
  for (const { step, seconds } of took) console.log(`${seconds.toFixed(2).padStart(7)} s  ${step}`);
  const machine = took.reduce((sum, { seconds }) => sum + seconds, 0);
  const person = personSeconds();
  console.log(`${machine.toFixed(2).padStart(7)} s  all commands`);
  console.log(`${person.toFixed(0).padStart(7)} s  reading at 200 words a minute, and 6 s to copy each step`);
  console.log(`${((machine + person) / 60).toFixed(1).padStart(7)} min together`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
