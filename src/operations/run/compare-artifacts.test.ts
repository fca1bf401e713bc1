import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareArtifacts } from './compare-artifacts.ts';

const OLD = '/p/.runs/r-old';
const NEW = '/elsewhere/.runs/r-new';

function artifact(path: string, sha256: string) {
  return { path, size: sha256.length, sha256 };
}

function compare(
  recorded: ReturnType<typeof artifact>[],
  now: ReturnType<typeof artifact>[],
  targets: Record<string, string> = {},
) {
  return compareArtifacts(
    { runId: 'r-old', artifacts: recorded },
    { runId: 'r-new', artifacts: now },
    new Map(Object.entries(targets)),
  );
}

describe('comparing the artifacts of two runs', () => {
  it('compares by content, not by the folders of the runs', () => {
    const { same, differing } = compare(
      [
        artifact(`${OLD}/work/b.txt`, 'bb'),
        artifact(`${OLD}/artifacts/a.txt`, 'a'),
        artifact('/data/c', 'c'),
      ],
      [
        artifact('/data/c', 'c'),
        artifact(`${NEW}/artifacts/a.txt`, 'a'),
        artifact(`${NEW}/work/b.txt`, 'bb'),
      ],
    );
    assert.deepEqual([same, differing], [['/data/c', 'artifacts/a.txt', 'work/b.txt'], []]);
  });

  it('reports both sides of an artifact that changed, is missing or is new', () => {
    const changed = [artifact(`${OLD}/work/x`, 'one'), artifact(`${NEW}/work/x`, 'other')] as const;
    const gone = artifact(`${OLD}/work/gone`, 'g');
    const added = artifact(`${NEW}/work/added`, 'n');
    const { same, differing } = compare([changed[0], gone], [changed[1], added]);
    assert.deepEqual(same, []);
    assert.deepEqual(differing, [
      { path: 'work/added', recorded: null, now: added },
      { path: 'work/gone', recorded: gone, now: null },
      { path: 'work/x', recorded: changed[0], now: changed[1] },
    ]);
  });

  it('matches an output that a run keeps in its folder, and the files in it, by its target', () => {
    const targets = { 'work/.staged/out/report': '/data/report' };
    const kept = `${NEW}/work/.staged/out/report`;
    const { same, differing } = compare(
      [artifact('/data/report', 'r'), artifact('/data/report/1.txt', 'one'), artifact('/data/report-2', 'x')],
      [artifact(kept, 'r'), artifact(`${kept}/1.txt`, 'one'), artifact(`${kept}-2`, 'x')],
      targets,
    );
    assert.deepEqual(same, ['/data/report', '/data/report/1.txt']);
    assert.deepEqual(
      differing.map(({ path }) => path),
      ['/data/report-2', 'work/.staged/out/report-2'],
    );
  });

  it('matches by the target on both sides when the recorded run is itself a replay', () => {
    const { same } = compare(
      [artifact(`${OLD}/work/.staged/out/r`, 'r')],
      [artifact(`${NEW}/work/.staged/out/r`, 'r')],
      { 'work/.staged/out/r': '/data/r' },
    );
    assert.deepEqual(same, ['/data/r']);
  });
});
