import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BACKENDS } from '../../src/core/sandbox/choose.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import type { Attack } from './attack.ts';
import { type Findings, readTable, renderTable, tableIn, type Verdict } from './attack-table.ts';
import { ALL_ATTACKS } from './attacks.ts';
import { files } from './launched/files.ts';
import { network } from './launched/network.ts';
import type { AttemptOutcome } from './launched/payload.ts';
import { processes } from './launched/processes.ts';
import { resources } from './launched/resources.ts';
import { type Probe, ProbeGround } from './probe-ground.ts';
import { artifacts } from './runner/artifacts.ts';
import { changes } from './runner/changes.ts';
import { egress } from './runner/egress.ts';
import { input } from './runner/input.ts';
import { learn } from './runner/learn.ts';
import { life } from './runner/life.ts';
import { output } from './runner/output.ts';
import { permissions } from './runner/permissions.ts';
import { weaker } from './runner/weaker.ts';

const who = process.getuid?.() === 0 ? 'root' : 'user';
const LAUNCHED = [files, processes, network, resources];
const RUNNER = {
  ...artifacts,
  ...changes,
  ...egress,
  ...input,
  ...learn,
  ...life,
  ...output,
  ...permissions,
  ...weaker,
};
const DOCUMENT = join(import.meta.dirname, '../../docs/sandbox.md');
/** Why the machine itself may prevent a control from succeeding: its kernel lacks the feature, or requires rights. */
const OWN_NO = /^(|E[A-Z_]+|rc \d+|0 alive)$/;

const backends: SandboxBackend[] = [];
for (const { load } of BACKENDS) {
  const backend = await load();
  const { available, detail } = await backend.probe();
  if (available) backends.push(backend);
  else it(`the attacks on '${backend.name}' are not tried here (${detail})`, { skip: true }, () => {});
}
const found: Record<string, Record<string, Verdict>> = {};

describe(`attacks as ${who === 'root' ? 'root' : 'an ordinary user'}`, () => {
  let ground: ProbeGround;
  before(async () => {
    ground = await ProbeGround.make();
  });
  after(() => ground.remove());

  for (const backend of backends) {
    describe(backend.tier < 3 ? `on '${backend.name}'` : 'without a sandbox, as the control', () => {
      let probes: Probe[];
      before(async () => {
        probes = await ground.probe(backend);
      });

      for (const attack of ALL_ATTACKS.filter(({ at }) => at === 'sandbox')) {
        it(titleOf(attack), async (t) => {
          const tried: AttemptOutcome[] = probes.filter((probe) => probe.attack === attack.number);
          for (const payloads of LAUNCHED)
            tried.push(...((await payloads[attack.number]?.(ground, backend)) ?? []));
          const possible = tried.filter(({ cannot }) => cannot === undefined);
          if (tried.length > 0 && possible.length === 0) return t.skip(tried[0]!.cannot);
          judge(attack, backend, possible, possible.length === tried.length);
        });
      }
    });
  }

  describe('on the runner', () => {
    for (const attack of ALL_ATTACKS) {
      const prove = RUNNER[attack.number];
      if (prove !== undefined)
        it(titleOf(attack), async (t) => {
          const cannot = await prove();
          if (cannot) t.skip(cannot);
        });
      else assert.equal(attack.at, 'sandbox', `nothing proves ${titleOf(attack)}`);
    }
  });

  it('are numbered in order', () =>
    assert.deepEqual(
      ALL_ATTACKS.map(({ number }) => number),
      ALL_ATTACKS.map((_, index) => index + 1),
    ));

  it('have the results that docs/sandbox.md states (to update: node_modules/.bin/bun scripts/write-attack-table.ts)', () => {
    writeFindings(found);
    const { block } = tableIn(readFileSync(DOCUMENT, 'utf8'));
    const committed = readTable(block);
    // There is no result for a missing backend, or for an attack that could be tried only in part.
    const known = Object.entries(committed.found(who)).map(([number, verdicts]) => [
      number,
      { ...verdicts, ...found[number] },
    ]);
    const both = {
      root: committed.found('root'),
      user: committed.found('user'),
      [who]: Object.fromEntries(known),
    };
    const [now, then] = [renderTable(both, committed.backends), block].map((text) => text.split('\n'));
    assert.deepEqual(
      now!.filter((line) => !then!.includes(line)),
      then!.filter((line) => !now!.includes(line)),
    );
  });

  /** Asserts that the attack fails where it must, succeeds only where the table lists it as open, and that the control does harm or says why not. */
  function judge(
    attack: Attack,
    backend: SandboxBackend,
    tried: readonly AttemptOutcome[],
    areAll: boolean,
  ): void {
    const results = tried
      .map(({ probe, harm, word }) => `${probe}: ${harm ? 'came through' : word}`)
      .join('; ');
    const through = tried.filter(({ harm }) => harm).length;
    const verdict = through === 0 ? 'held' : through === tried.length ? 'open' : 'part';
    if (areAll) found[attack.number] = { ...found[attack.number], [backend.name]: verdict };
    if (backend.tier < 3) {
      assert.ok(tried.length > 0, 'nothing was tried');
      if (attack.open?.[backend.name] === undefined) assert.equal(verdict, 'held', results);
      else assert.notEqual(verdict, 'held', `the docs list it as open: ${results}`);
    } else if (attack.noControl === undefined && (who === 'root' || attack.noControlAsUser === undefined)) {
      assert.notEqual(verdict, 'held', `the control did no harm: ${results}`);
      for (const { probe, harm, word } of tried)
        assert.ok(harm || OWN_NO.test(word), `${probe} failed by itself: ${word}`);
    }
  }
});

function titleOf({ number, title, must }: Attack): string {
  return `${number}. ${title}: ${must}`;
}

/** For scripts/write-attack-table.ts. */
function writeFindings(findings: Findings): void {
  const folder = process.env['ACOR_ATTACK_FINDINGS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${who}.json`), JSON.stringify(findings));
}
