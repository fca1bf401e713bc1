import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../../test/support/project-folder.ts';
import { liesInProtected } from '../../../sandbox/profile/protected-names.ts';
import type { ToolPlan } from '../../plan/tool-plan.ts';
import { protectedState } from './protected-state.ts';
import { watchProtected } from './watch-protected.ts';

const FILES = {
  '.git/config': 'old',
  '.git/hooks/pre-commit': 'old',
  '.git/objects/aa/hooks': 'old',
  '.claude/deep/er/settings.json': 'old',
  'sub/.envrc': 'old',
  'sub/package.json': '{"scripts":{"test":"old"},"dependencies":{"a":"1"}}',
  'plain.txt': 'old',
};

describe('protected files in a folder that a tool may write', () => {
  let folder: ProjectFolder;
  beforeEach(() => {
    folder = projectFolder(FILES);
  });
  afterEach(() => folder.remove());

  const plan = (more: { grants?: object[]; staged?: object[]; home?: string } = {}) =>
    ({
      grants: [{ path: folder.root, access: 'write' }, ...(more.grants ?? [])],
      staged: more.staged ?? [],
      tool: { home: more.home ?? '/nowhere' },
    }) as unknown as ToolPlan;

  /** What is reported after such a change. */
  function after(change: () => void, of = plan()) {
    const report = watchProtected(of);
    change();
    const warned: { msg: string; extra: Record<string, unknown> }[] = [];
    report((msg, extra) => warned.push({ msg, extra }));
    return warned;
  }

  const changesAfter = (change: () => void, of = plan()) =>
    after(change, of).flatMap(({ extra }) =>
      ((extra['changed'] ?? []) as { path: string; change: string }[]).map(
        ({ path, change: how }) => `${how} ${path.slice(folder.root.length + 1)}`,
      ),
    );

  it('are reported when they change, with what to do', () => {
    const [warned, ...others] = after(() => folder.write('.git/config', 'new'));
    assert.deepEqual(others, []);
    assert.equal(
      warned!.msg,
      `the tool changed files that other programs execute or read as configuration: ${folder.at('.git/config')} (changed)`,
    );
    assert.match(String(warned!.extra['hint']), /^Review each of them/);
  });

  it('are noticed at every depth, in every way to change them', () => {
    for (const [change, expected] of [
      [() => folder.write('.claude/deep/er/settings.json', 'new'), ['changed .claude/deep/er/settings.json']],
      [() => folder.write('sub/.envrc', 'new'), ['changed sub/.envrc']],
      [() => folder.write('sub/.envrc', 'newer'), ['changed sub/.envrc']],
      [() => rmSync(folder.at('sub/.envrc')), ['removed sub/.envrc']],
      [() => folder.write('sub/x/.github/workflows/ci.yml', ''), ['added sub/x/.github/workflows']],
      [() => folder.write('.vscode/deep/tasks.json', ''), ['added .vscode']],
      [() => rmSync(folder.at('.git/hooks'), { recursive: true }), ['removed .git/hooks']],
      [
        () => chmodSync(folder.at('.claude/deep/er/settings.json'), 0o755),
        ['changed .claude/deep/er/settings.json'],
      ],
      [() => folder.link('sub/.bashrc', '/etc/passwd'), ['added sub/.bashrc']],
      [() => folder.link('.ssh', '/etc'), ['added .ssh']],
      [() => execFileSync('mkfifo', [folder.at('sub/.npmrc')]), ['added sub/.npmrc']],
      [() => folder.write('new/package.json', '{"scripts":{}}'), ['added new/package.json']],
      [() => folder.write('sub/package.json', '{"scripts":{"test":"new"}}'), ['changed sub/package.json']],
      [() => folder.write('sub/package.json', 'not JSON'), ['changed sub/package.json']],
    ] as const) {
      assert.deepEqual(changesAfter(change), expected, String(change));
      folder.remove();
      folder = projectFolder(FILES);
    }
  });

  it('are not reported when nothing that is read has changed', () => {
    for (const change of [
      () => folder.write('plain.txt', 'new'),
      () => folder.write('hooks/pre-commit', 'new'),
      () => folder.write('.git/objects/aa/hooks', 'new'),
      () => folder.write('sub/package.json', '{"dependencies":{"a":"2"},"scripts":{"test":"old"}}'),
      () => utimesSync(folder.at('.git/config'), 0, 0),
      () => folder.write('.git/config', 'old'),
    ])
      assert.deepEqual(changesAfter(change), [], String(change));
  });

  it('that link elsewhere are compared by where they link to', () => {
    folder.link('.vimrc', 'one');
    const relink = () => {
      rmSync(folder.at('.vimrc'));
      folder.link('.vimrc', 'two');
    };
    assert.deepEqual(changesAfter(relink), ['changed .vimrc']);
    // A link to a folder is not followed.
    folder.link('linked', folder.at('.git'));
    assert.deepEqual(
      changesAfter(() => folder.write('.git/config', 'new')),
      ['changed .git/config'],
    );
  });

  it('may change where they were granted themselves, or are outputs', () => {
    const inner = { path: folder.at('.claude'), access: 'write' };
    const change = () => folder.write('.claude/deep/er/settings.json', 'new');
    assert.deepEqual(changesAfter(change, plan({ grants: [inner] })), []);
    assert.deepEqual(
      changesAfter(
        () => folder.write('sub/.envrc', 'new'),
        plan({ staged: [{ target: folder.at('sub/.envrc') }] }),
      ),
      [],
    );
    const beside = { path: folder.at('.cla'), access: 'write' };
    folder.write('.claude/deep/er/settings.json', 'old');
    assert.equal(changesAfter(change, plan({ grants: [beside] })).length, 1);
  });

  it('are watched in folders that the run writes in place, and in no others', () => {
    const change = () => folder.write('.git/config', String(Math.random()));
    for (const grant of [
      { path: folder.root, access: 'read' },
      { path: folder.root, access: 'write', from: '/layer' },
    ])
      assert.deepEqual(changesAfter(change, { ...plan(), grants: [grant] } as unknown as ToolPlan), []);
    assert.deepEqual(changesAfter(change, plan({ home: folder.root })), []);
    assert.equal(changesAfter(change).length, 1);
  });

  it('are listed up to a hundred', () => {
    const [warned] = after(() => {
      for (let count = 0; count < 103; count++) folder.write(`x${count}/.envrc`, '');
    });
    assert.match(warned!.msg, /\(added\), and 3 more$/);
    assert.equal((warned!.extra['changed'] as unknown[]).length, 100);
    folder.remove();
    folder = projectFolder(FILES);
    const [exact] = after(() => {
      for (let count = 0; count < 100; count++) folder.write(`x${count}/.envrc`, '');
    });
    assert.doesNotMatch(exact!.msg, /more/);
  });

  it('are compared by their first megabyte and their size', () => {
    const text = 'x'.repeat(1_000_000);
    folder.write('.bashrc', `${text}a`);
    assert.deepEqual(
      changesAfter(() => folder.write('.bashrc', `${text}b`)),
      [],
    );
    assert.deepEqual(
      changesAfter(() => folder.write('.bashrc', `${text}bb`)),
      ['changed .bashrc'],
    );
    assert.deepEqual(
      changesAfter(() => folder.write('.bashrc', `y${text.slice(1)}bb`)),
      ['changed .bashrc'],
    );
  });

  it('too deep or too many are said to be unchecked', () => {
    const deep = (levels: number) => Array.from({ length: levels }, (_, n) => `d${n}`).join('/');
    assert.equal(protectedState([folder.root]).isCut, false);
    folder.folder(deep(50));
    assert.equal(protectedState([folder.root]).isCut, false);
    folder.folder(deep(51));
    const cut = protectedState([folder.root]);
    assert.deepEqual([cut.isCut, cut.seen.has(folder.at('.git/config'))], [true, true]);
    const [warned] = after(() => {});
    assert.equal(
      warned!.msg,
      'the folders that the tool may write have too many entries to check all protected files',
    );
    assert.deepEqual(warned!.extra['folders'], [folder.root]);
  });

  it('are looked for among twenty thousand entries', () => {
    execFileSync('sh', [
      '-c',
      `cd ${folder.root} && rm -rf sub .git .claude && mkdir many && cd many && seq 19998 | xargs touch`,
    ]);
    // The folder itself and plain.txt are entries as well.
    assert.equal(protectedState([folder.root]).isCut, false);
    folder.write('many/one-more', '');
    assert.equal(protectedState([folder.root]).isCut, true);
  });

  it('are known by their paths', () => {
    for (const path of [
      '.git/hooks/a/b',
      'x/.envrc',
      'x/package.json',
      '.claude',
      'a/.github/workflows/ci.yml',
    ])
      assert.equal(liesInProtected(join('/x', path)), true, path);
    for (const path of ['a', 'hooks/a', '.github/ISSUE.md', 'x/envrc'])
      assert.equal(liesInProtected(join('/x', path)), false, path);
  });
});
