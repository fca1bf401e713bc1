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

/** How fast an adult reads English that explains something, in words a minute. */
const WORDS_A_MINUTE = 200;
/** To copy one block from the page, paste it, and look at what came. */
const SECONDS_A_STEP = 6;

/** What a person needs for the page, without the commands' own time: reading it up to the last step, and copying each step. */
export function personSeconds(): number {
  const read = GUIDE.slice(0, GUIDE.lastIndexOf('```'));
  const prose = read.replaceAll(/^```(?:sh|python)\n.*?^```$/gms, '');
  return (prose.split(/\s+/).length / WORDS_A_MINUTE) * 60 + STEPS.length * SECONDS_A_STEP;
}

/** Does what docs/getting-started.md says, without a terminal, and checks what each command answers. Returns what each command took. */
export function followFirstPage({
  folder,
  env,
  user,
  prefix = [],
}: Newcomer): { step: string; seconds: number }[] {
  let cwd = folder;
  const answers: string[] = [];
  const took: { step: string; seconds: number }[] = [];
  for (const step of STEPS) {
    if (typeof step !== 'string') {
      // An existing file keeps its owner.
      writeFileSync(join(cwd, step.path), step.text);
      continue;
    }
    const [program, ...args] = [...prefix, 'sh', '-c', step];
    const began = performance.now();
    const { status, stdout, stderr } = spawnSync(program!, args, {
      cwd,
      env,
      encoding: 'utf8',
      input: '',
      ...user,
    });
    took.push({ step, seconds: (performance.now() - began) / 1000 });
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
  return took;
}
