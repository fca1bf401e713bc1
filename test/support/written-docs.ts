import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './project.ts';

/**
 * Compares the part of a page that a test makes with what it makes now. With ACOR_WRITE_SCORE, writes it instead. The part is between
 * `<!-- NAME: written by FILE -->` and `<!-- end of NAME -->`.
 */
export function assertWrittenInDocs(
  page: string,
  { name, by }: { name: string; by: string },
  text: string,
): void {
  const path = join(ROOT, 'docs', page);
  const docs = readFileSync(path, 'utf8');
  const [start, end] = [`<!-- ${name}: written by ${by} -->\n`, `<!-- end of ${name} -->`];
  const [from, to] = [docs.indexOf(start), docs.indexOf(end)];
  assert.ok(from !== -1 && to > from, `${page} has no part '${name}'`);
  const written = `${docs.slice(0, from + start.length)}${text}\n${docs.slice(to)}`;
  if (process.env['ACOR_WRITE_SCORE'] !== undefined) writeFileSync(path, written);
  else assert.equal(docs, written, 'run this test with ACOR_WRITE_SCORE=1 to write this part');
}
