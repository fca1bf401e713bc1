import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { recordFirstSession, withoutChanceAtTerminal } from '../support/first-session.ts';
import { noTerminal } from '../support/terminal.ts';

it('the first session in docs/ is what a terminal shows now', { skip: noTerminal }, async () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'first-session.md'), 'utf8');
  const recorded = page.slice(page.indexOf('```console'));
  assert.equal(withoutChanceAtTerminal(await recordFirstSession()), withoutChanceAtTerminal(recorded));
});
