import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { followFirstPage, personSeconds, STEPS } from '../support/first-page.ts';
import { ACOR } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not here';

/** An empty folder outside of any project. */
function emptyFolder() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-newcomer-')));
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

describe('a newcomer who does what docs/getting-started.md says', { skip: noPython }, () => {
  it('gets a tool of their own running, without a terminal', () => {
    using folder = emptyFolder();
    const env = { PATH: `${dirname(ACOR)}:${process.env.PATH}`, HOME: folder.root };
    followFirstPage({ folder: folder.root, env });
  });

  it('has read the page and copied its steps in four minutes, which leaves one for the commands', () => {
    assert.ok(personSeconds() < 240, `${personSeconds()} s`);
  });

  it('sees at a terminal what happened, and what to do next', { skip: noTerminal }, async () => {
    using folder = emptyFolder();
    const cwd = join(folder.root, 'notes');
    mkdirSync(cwd);
    const see = async (...args: string[]) => {
      const { code, text } = await atTerminal(args, { cwd });
      assert.equal(code, 0, text);
      assert.doesNotMatch(text, /^\{"ok":/m, 'an envelope is for programs');
      return text.replaceAll('\r', '');
    };
    assert.match(
      await see('init'),
      /^create {5}\.acor\/config\.yaml$[\s\S]*^create {5}tools\/hello\/cli\.py$[\s\S]*acor run hello --who Ada/m,
    );
    assert.match(await see('run', 'hello', '--who', 'Ada'), /completed in/);
    assert.match(
      await see('template', 'python', '--name', 'word_count'),
      /^create {5}tools\/word_count\/tool\.yaml$/m,
    );
    for (const step of STEPS) if (typeof step !== 'string') writeFileSync(join(cwd, step.path), step.text);
    writeFileSync(join(cwd, 'fox.txt'), 'the quick brown fox\n');
    assert.match(
      await see('describe', 'word_count'),
      /acor run word_count --file <path> \[--longest <int>\]/,
    );
    assert.match(await see('run', 'word_count', '--file', 'fox.txt'), /completed in/);
    assert.match(await see('init'), /^unchanged {2}tool$/m);
  });

  it('sees a long warning in lines that the screen does not break', { skip: noTerminal }, async () => {
    using folder = emptyFolder();
    const { text } = await atTerminal(['list'], { cwd: folder.root });
    const lines = text.replaceAll('\r', '').split('\n');
    assert.match(lines.join(' '), /warning: there is no project here: .* has no tools/);
    assert.ok(lines.length > 2 && lines.every((line) => line.length <= 100), text);
  });
});
