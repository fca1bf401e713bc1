import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { recordTranscript, withoutChance } from '../support/transcript.ts';

it('the transcript in docs/ is the current output of its commands', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'transcript.md'), 'utf8');
  const recorded = page.slice(page.indexOf('```console'));
  assert.equal(withoutChance(recordTranscript()), withoutChance(recorded));
});
