import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLines, ROOT } from './project.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'getting-started.md'), 'utf8');

type Step = string | { path: string; text: string };

/** The guide as what a newcomer does, in order: commands to type, and files to write. */
export const STEPS = [...GUIDE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, language, text]): Step[] =>
  language === 'sh' ? text!.trimEnd().split('\n') : [{ path: /^# (\S+)/.exec(text!)![1]!, text: text! }],
);

/** Who follows the guide, and where. `PATH` must contain `acor`. */
interface Newcomer {
  folder: string;
  env: Record<string, string>;
  /** Another user, if root runs the tests. */
  user?: { uid: number; gid: number };
  /** Words before each command, such as those that take the network away. */
  prefix?: readonly string[];
}

/** Does what docs/getting-started.md says, without a terminal, and checks what each command answers. */
export function followFirstPage({ folder, env, user, prefix = [] }: Newcomer): void {
  let cwd = folder;
  const answers: string[] = [];
  for (const step of STEPS) {
    if (typeof step !== 'string') {
      // An existing file keeps its owner.
      writeFileSync(join(cwd, step.path), step.text);
      continue;
    }
    const [program, ...args] = [...prefix, 'sh', '-c', step];
    const { status, stdout, stderr } = spawnSync(program!, args, {
      cwd,
      env,
      encoding: 'utf8',
      input: '',
      ...user,
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
  const validated = JSON.parse(answers.find((each) => each.includes('"tool":"project.validate"'))!);
  assert.deepEqual([validated.ok, validated.data.findings], [true, []]);
  const kept = readdirSync(join(cwd, 'tools', 'word_count')).filter((name) => name !== '__pycache__');
  assert.deepEqual(kept.toSorted(), ['cli.py', 'tool.yaml'], 'nothing of the template stays behind');
  const counted = JSON.parse(answers.find((each) => each.includes('"tool":"run.start"'))!);
  assert.deepEqual(counted.data.result.data, { words: 4, longest: ['brown', 'quick'] });
  const shortcut = parseLines(answers.at(-1)!);
  assert.deepEqual(shortcut.find(({ type }) => type === 'result')!.data, {
    words: 4,
    longest: ['brown', 'quick', 'fox'],
  });
}
