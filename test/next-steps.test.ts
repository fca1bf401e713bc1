import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findCommand } from '../src/compose/find-command.ts';
import { readFlags } from '../src/compose/flags.ts';
import { readInput } from '../src/compose/input.ts';
import type { NextStep } from '../src/compose/next-step.ts';
import { parametersOf } from '../src/compose/parameters.ts';
import { commandOf } from '../src/operations/command-forms.ts';
import { ROUTES } from '../src/operations/index.ts';
import * as steps from '../src/protocol/next-steps.ts';
import { splitCommand } from '../src/util/shell-words.ts';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const LEAST_FILES = 300;

/** Files of the core and the protocol that may hold a command line of ACOR, and why. */
const MAY_HOLD_COMMANDS: Readonly<Record<string, string>> = {
  'core/authoring/agents/agents.ts': 'it writes the settings of agents, which start ACOR by its command',
  'core/authoring/migrate/programs.ts': 'it writes programs for shells, which start ACOR by its command',
  'core/authoring/scaffold/planned-file.ts': 'it recognises the first line of a file that ACOR wrote',
  'core/authoring/scaffold/existing/python-imports.ts': 'it writes an import of the Python package acor',
  'protocol/config-file.ts': 'the descriptions are documentation, in the schema for editors',
  'protocol/policy-file.ts': 'the descriptions are documentation, in the schema for editors',
};

/** Steps of every kind that `next-steps.ts` makes. */
const EVERY_STEP: readonly NextStep[] = Object.values(steps).flatMap((each) =>
  typeof each === 'object' ? [each] : [],
);
const r = 'r-0123456789abcdef';
const MADE_STEPS: readonly NextStep[] = [
  steps.validateStrictly(['my_tool']),
  steps.validateTool('my_tool'),
  steps.adoptFile('cli.py'),
  steps.initAgents(['claude', 'codex'], { force: true }),
  steps.runTool('my_tool', ['--who', 'Ada', '--', 'a b']),
  steps.previewTool('my_tool', ['--who', 'Ada', '--', 'a b']),
  steps.checkAgainstPolicy('my_tool', ['--who', 'Ada']),
  steps.runProgram('ls', ['-l', '--', 'a b']),
  steps.createTool('bash', 'my_tool'),
  steps.showRun(r),
  steps.readLogs(r),
  steps.removeRun(r),
  steps.findOutEffects(r),
  steps.attachTo(r),
  steps.waitFor(r),
  steps.cancelRun(r),
  steps.removeWholePack(3),
  steps.resumeRun(r, { force: true }),
  steps.retryRun(r, { force: true }),
  steps.resumeWorkflow(r),
  steps.seeRecording(r),
  steps.previewReplay(r),
  steps.diffRun(r),
  steps.applyRun(r),
  steps.discardRun(r),
  steps.undoRun(r),
  steps.listArtifacts(r),
  steps.listQuestions(r),
  steps.learnTool('my_tool'),
  steps.describeTool('my_tool'),
  steps.graphOf('nightly'),
  steps.approve('plugin:notify'),
  steps.storeSecret('API_TOKEN'),
  steps.explainStep({ topic: 'tool:my_tool' }),
];

describe('the core and the protocol', () => {
  const files = globSync('{core,protocol}/**/*.ts', { cwd: SRC }).filter(
    (path) => !path.endsWith('.test.ts'),
  );

  it('hold no command line of ACOR', () => {
    assert.ok(files.length > LEAST_FILES, `${files.length} files read`);
    const found = files.filter((path) => /\bacor [a-z<-]|\[\s*'acor',/.test(withoutComments(path)));
    assert.deepEqual(found.sort(), Object.keys(MAY_HOLD_COMMANDS).sort());
  });

  it('hold none in a hint of an operation either: the next steps have the command', () => {
    const operations = globSync('operations/**/*.ts', { cwd: SRC });
    const found = operations.filter((path) => /\bhint: .*\bacor [a-z<-]/.test(withoutComments(path)));
    assert.deepEqual(found, []);
  });

  it('name only existing operations', () => {
    const named = files.flatMap((path) => [
      ...readFileSync(SRC + path, 'utf8').matchAll(/\boperation: '([^']+)'/g),
    ]);
    const made = [...EVERY_STEP, ...MADE_STEPS].flatMap((step) =>
      'operation' in step ? step.operation : [],
    );
    const names = new Set([...named.map(([, name]) => name!), ...made]);
    assert.ok(names.size > 20, `${names.size} operations named`);
    const known = ROUTES.map(({ operation }) => operation);
    assert.deepEqual(
      [...names].filter((name) => !known.includes(name)),
      [],
    );
  });
});

describe('a route', () => {
  it('declares the same command form as its operation', async () => {
    for (const { operation, command, positionals, passthrough, load } of ROUTES) {
      const op = await load();
      assert.deepEqual(
        { operation, positionals, passthrough },
        { operation: op.name, positionals: op.positionals, passthrough: op.passthrough },
        command,
      );
    }
  });
});

describe('a next step', () => {
  it('is written as a command line that the operation reads as the same input', async () => {
    assert.equal(EVERY_STEP.length + MADE_STEPS.length, Object.keys(steps).length);
    for (const step of [...EVERY_STEP, ...MADE_STEPS]) {
      assert.ok('operation' in step);
      assert.match(step.why, /^[A-Z].*\.$/);
      const [program, ...argv] = splitCommand(commandOf(step))!;
      assert.equal(program, 'acor');
      const { route, args } = findCommand(ROUTES, argv);
      assert.equal(route?.operation, step.operation);
      const op = await route!.load();
      const parameters = parametersOf(op);
      const sources = { cwd: '/', readStdin: async () => '', invocation: route!.command };
      const input = await readInput(op, parameters, readFlags(parameters, args, op), sources);
      assert.deepEqual({ ...input, ...step.input }, input, commandOf(step));
    }
  });
});

/** What a source says to others. Only whole-line and block comments occur, and comments after code. */
function withoutComments(path: string): string {
  return readFileSync(SRC + path, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '');
}
