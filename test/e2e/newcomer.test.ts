import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { ACOR, parseLines, ROOT } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'getting-started.md'), 'utf8');
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not here';

type Step = string | { path: string; text: string };

/** The guide as what a newcomer does, in order: commands to type, and files to write. */
const STEPS = [...GUIDE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, language, text]): Step[] =>
  language === 'sh' ? text!.trimEnd().split('\n') : [{ path: /^# (\S+)/.exec(text!)![1]!, text: text! }],
);

/** An empty folder outside of any project. */
function emptyFolder() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-newcomer-')));
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

describe('a newcomer who does what docs/getting-started.md says', { skip: noPython }, () => {
  it('gets a tool of their own running, without a terminal', () => {
    using folder = emptyFolder();
    let cwd = folder.root;
    const answers: string[] = [];
    for (const step of STEPS) {
      if (typeof step !== 'string') {
        writeFileSync(join(cwd, step.path), step.text);
        continue;
      }
      const env = { PATH: `${dirname(ACOR)}:${process.env.PATH}`, HOME: folder.root };
      const { status, stdout, stderr } = spawnSync('sh', ['-c', step], {
        cwd,
        env,
        encoding: 'utf8',
        input: '',
      });
      assert.deepEqual([status, stderr], [0, ''], `${step}: ${stdout}`);
      if (/^(?:acor|\.\/tool) /.test(step)) answers.push(stdout);
      const into = /^mkdir (\S+) && cd \1$/.exec(step)?.[1];
      if (into !== undefined) cwd = join(cwd, into);
    }
    assert.deepEqual(parseLines(answers[1]!).find(({ type }) => type === 'result')!.data, {
      greetings: ['Hello, Ada!'],
    });
    const described = JSON.parse(answers.find((each) => each.includes('"tool":"tool.describe"'))!);
    assert.equal(described.data.usage, 'acor run word_count --file <path> [--longest <int>]');
    const counted = JSON.parse(answers.find((each) => each.includes('"tool":"run.start"'))!);
    assert.deepEqual(counted.data.result.data, { words: 4, longest: ['brown', 'quick'] });
    const shortcut = parseLines(answers.at(-1)!);
    assert.deepEqual(shortcut.find(({ type }) => type === 'result')!.data, {
      words: 4,
      longest: ['brown', 'quick', 'fox'],
    });
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
});
