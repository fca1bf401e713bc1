import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import type { Operation } from '../../src/compose/operation.ts';
import type { AcorApp } from '../../src/operations/acor-app.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import { type Finished, parseLines, ROOT, TestProject } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';

const meta = z.strictObject({
  tool: z.string(),
  elapsed: z.number().min(0),
  count: z.int().min(0).optional(),
  total: z.int().min(0).optional(),
  hasMore: z.boolean().optional(),
  tokens: z.int().min(1).optional(),
  next: z.array(z.string().regex(/^\S/)).min(1).optional(),
});

const success = z.strictObject({ ok: z.literal(true), data: z.unknown(), meta });

const failure = z.strictObject({
  ok: z.literal(false),
  error: z.strictObject({
    code: z.enum(Object.keys(ERROR_CODES) as [string, ...string[]]),
    message: z.string().min(1),
    hint: z.string().min(1),
    class: z.enum(['user_error', 'retryable', 'infra_error', 'policy_error', 'unknown']),
    retryable: z.boolean(),
    action: z.string().min(1),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  meta,
});

/** Values for positionals without a default. */
type Given = {
  run: string;
  failed: string;
  failedToo: string;
  tool: string;
  flow: string;
  secretFile: string;
};

const SHELF = join(import.meta.dirname, '..', 'fixtures', 'codemod', 'shelf.mjs');

/** Arguments for commands that need more than a run or a tool as positional. */
const ARGUMENTS: Readonly<Record<string, (given: Given) => string[]>> = {
  adopt: () => ['sort', '--dry-run'],
  'agents plugin': () => ['--output', 'plugin', '--dry-run'],
  approve: () => ['--list'],
  learn: () => ['--dry-run', 'quick'],
  artifact: ({ run }) => [run, '1'],
  'compose audit': () => ['sort', '--dry-run'],
  'compose codemod': () => [SHELF, '--output', 'agent', '--dry-run'],
  'compose migrate': () => ['seq', '--call', '-- 3', '--dry-run'],
  'compose plan': () => ['seq', '--call', '-- 3'],
  'config set': () => ['storage.keep', '5'],
  'config unset': () => ['storage.keep'],
  complete: () => ['bash', '--json'],
  man: () => ['--json'],
  metrics: () => ['--json'],
  clean: () => ['--keep', '100', '--dry-run'],
  pipe: () => ['quick', 'takes_records', '--no-stream'],
  template: () => ['bash'],
  retry: ({ failedToo }) => [failedToo, '--no-stream'],
  resume: ({ failed }) => [failed, '--no-stream'],
  exec: () => ['--no-stream', 'true'],
  run: ({ tool }) => ['--no-stream', tool],
  'runs rm': ({ run }) => [run, '--dry-run'],
  'schedule add': () => ['quick', '--cron', '0 3 * * *'],
  'schedule pause': () => ['nightly'],
  'schedule resume': () => ['nightly'],
  'schedule rm': () => ['nightly', '--dry-run'],
  'schedule show': () => ['nightly'],
  'secret delete': () => ['API_TOKEN'],
  'secret set': ({ secretFile }) => ['API_TOKEN', '--file', secretFile],
  watch: () => ['quick', '--on', 'src/**', '--name', 'watching'],
  'workflow graph': () => ['flow'],
  'workflow resume': ({ flow }) => [flow, '--from', 'a', '--no-stream'],
  'workflow run': () => ['flow', '--no-stream'],
};

/** Commands whose success needs a tool that waits for it, a client, an agent, a layer or a migrated program: `questions.test.ts`,
 * `mcp.test.ts`, `serve.test.ts`, `task.test.ts`, `kept-writes.test.ts` and `compose-migrate.test.ts` have them. */
const ELSEWHERE = ['answer', 'apply', 'compose call', 'discard', 'mcp', 'serve', 'task', 'undo'];

/** Commands that answer in a project with an invalid configuration. Every other command fails there. */
const WITHOUT_CONFIG: readonly string[] = [
  'agents check',
  'agents plugin',
  'agents remove',
  'complete',
  'errors',
  'explain',
  'health',
  'host stop',
  'man',
  'self-test',
  'tools',
  'upgrade',
  'version',
];

const COMMANDS = await Promise.all(
  ROUTES.filter(({ hidden }) => !hidden).map(async ({ command, load }) => ({ command, op: await load() })),
);

/** Whether a positional is required. */
const needs = (op: Operation<AcorApp>, name: string) => !op.input.shape[name]?.safeParse(undefined).success;
const neededBy = (op: Operation<AcorApp>) => (op.positionals ?? []).filter((name) => needs(op, name));

describe('every command', () => {
  let project: ProjectInProcess;
  let broken: ProjectInProcess;
  let given: Given;
  before(async () => {
    broken = new ProjectInProcess({ config: 'version: 1\nno_such_key: 1\n' });
    project = new ProjectInProcess({ tools: ['right_hash', 'quick', 'needs_three_tries'] });
    project.write(
      'tools/fails_once/cli.sh',
      '#!/bin/bash\n[ "$ACOR_ATTEMPT" = 1 ] && exit 30\necho \'{"type":"result","status":"ok"}\'\n',
      0o755,
    );
    project.write(
      'tools/takes_records/tool.yaml',
      'version: 1.0.0\ncommand: [cat]\nadapter: plain\nstdin: records\n',
    );
    project.write('workflows/flow.yaml', 'steps: [{ name: a, tool: quick }]\n');
    const { end } = await project.run(['right_hash']);
    const { end: failed } = await project.run(['fails_once']);
    const { end: failedToo } = await project.run(['fails_once']);
    const flow = await project.envelope(['workflow', 'run', 'flow', '--no-stream']);
    given = {
      run: String(end.run_id),
      failed: String(failed.run_id),
      failedToo: String(failedToo.run_id),
      tool: 'quick',
      flow: flow.data.run_id,
      secretFile: project.write('token.txt', 'correct horse battery\n'),
    };
    await project.acor(['secret', 'set', 'API_TOKEN', '--file', given.secretFile]);
    await project.acor(['schedule', 'add', 'quick', '--cron', '0 3 * * *', '--name', 'nightly']);
  });
  after(() => {
    project[Symbol.dispose]();
    broken[Symbol.dispose]();
  });

  function argumentsOf(command: string, op: Operation<AcorApp>): string[] {
    const own = ARGUMENTS[command];
    if (own !== undefined) return own(given);
    return neededBy(op).map((name) => {
      if (name === 'run' || name === 'tool') return given[name];
      throw new Error(`'${command}' needs '${name}': give ARGUMENTS in this file an entry for '${command}'`);
    });
  }

  for (const { command, op } of COMMANDS) {
    const words = command.split(' ');

    if (!ELSEWHERE.includes(command)) {
      it(`'${command}' answers with an envelope whose data matches its output schema, and does not read stdin`, async () => {
        const args = [...words, ...argumentsOf(command, op)];
        // stdin stays open: a command that reads it without being asked to hangs here.
        const { stdout, stderr, code } = await project.start(args).finished;
        const about = `acor ${args.join(' ')}: ${stdout}${stderr}`;
        assert.equal(code, 0, about);
        const lines = parseLines(stdout);
        if (op.streams !== undefined && lines.at(-1)!.type === 'runner_end') {
          for (const line of lines)
            assert.deepEqual([typeof line.type, typeof line.seq], ['string', 'number']);
          return;
        }
        assert.equal(lines.length, 1, about);
        const envelope = success.parse(lines[0]);
        assert.deepEqual(Object.keys(envelope), ['ok', 'data', 'meta']);
        assert.equal(envelope.meta.tool, op.name);
        const checked = z.safeParse(op.output, envelope.data);
        assert.ok(checked.success, `${about}\n${checked.error && z.prettifyError(checked.error)}`);
        assert.deepEqual(
          JSON.parse(JSON.stringify(checked.data)),
          envelope.data,
          'a field is not in the output schema',
        );
      });
    }

    it(`'${command}' rejects an unknown flag as E_USAGE, exit code 1, with a hint`, async () => {
      const { stdout, stderr, code } = await project.acor([...words, '--no-such-flag']);
      const lines = stdout.split('\n');
      assert.deepEqual([code, lines.length, lines[1], stderr], [1, 2, '', '']);
      const envelope = failure.parse(JSON.parse(lines[0]!));
      assert.deepEqual(Object.keys(envelope), ['ok', 'error', 'meta']);
      assert.deepEqual([envelope.error.code, envelope.meta.tool], ['E_USAGE', op.name]);
      assert.match(envelope.error.message, /--no-such-flag/);
      assert.ok(envelope.meta.next?.includes(`acor ${command} --help`), JSON.stringify(envelope.meta));
    });

    if (neededBy(op).length > 0) {
      it(`'${command}' answers with an envelope when its subject does not exist`, async () => {
        const missing = neededBy(op).map((name) => (name === 'run' ? 'r-0000000000000000' : 'no-such-thing'));
        assertRefused(await project.acor([...words, ...missing]), op);
      });
    }

    if (WITHOUT_CONFIG.includes(command)) {
      it(`'${command}' matches its output schema also in an invalid project`, async () => {
        const { stdout, code } = await broken.acor([...words, ...argumentsOf(command, op)]);
        const { data, error } = JSON.parse(stdout);
        if (code !== 0) assert.deepEqual([code, error.code], [2, 'E_NOT_READY']);
        assert.ok(z.safeParse(op.output, data ?? error.details).success, stdout);
      });
    } else {
      it(`'${command}' fails in an invalid project, with exit code 2`, async () => {
        const isElsewhere = ELSEWHERE.includes(command);
        const args = isElsewhere ? neededBy(op).map(() => given.run) : argumentsOf(command, op);
        const call = [...words, ...args];
        const answered = isElsewhere ? await broken.start(call).finished : await broken.acor(call);
        const { error, meta: about } = failure.parse(JSON.parse(answered.stdout));
        assert.deepEqual([error.code, answered.code, about.tool], ['E_CONFIG_INVALID', 2, op.name]);
      });
    }

    it(`'${command}' shows help that begins with a valid example of its call`, async () => {
      const { stdout, stderr, code } = await project.acor([...words, '--help']);
      assert.deepEqual([code, stderr], [0, '']);
      const [title, first] = stdout.split('\n');
      assert.match(title!, /^Examples?$/);
      assert.equal(first, `  ${op.example}`);
      assert.ok(op.example.startsWith(`acor ${command}`));
      assert.ok(stdout.includes(op.summary));
      for (const key of Object.keys(op.input.shape)) {
        const name = key.replaceAll('_', '-');
        assert.ok(stdout.includes(name) || stdout.includes(key), `${command}: help is silent about ${key}`);
      }
      assert.doesNotMatch(stdout, /\u001b/);
    });
  }

  it('that fails answers with an envelope of the same shape, and its code is in the table', async () => {
    for (const args of [
      ['show', 'r-nothing'],
      ['describe', 'nothing'],
      ['run', 'nothing'],
      ['nothing'],
      ['config'],
      ['runs', '--limit', 'x', '--fields', ''],
    ]) {
      const { stdout, code } = await project.acor(args);
      const { error } = failure.parse(JSON.parse(stdout));
      assert.equal(code, ERROR_CODES[error.code as keyof typeof ERROR_CODES].exit, args.join(' '));
    }
  });

  it('waits for stdin when asked to read it (the control of those that do not)', async () => {
    const asked = project.start(['list', '--input-json', '-']);
    await project.envelope(['version']);
    assert.equal(asked.child.exitCode, null);
    asked.child.stdin!.end('{"filter":"quick"}');
    const { data } = JSON.parse((await asked.finished).stdout);
    assert.deepEqual(
      data.tools.map(({ name }: { name: string }) => name),
      ['quick'],
    );
  });

  for (const { command, op } of COMMANDS.filter(({ op }) => neededBy(op)[0] === 'run')) {
    it(`'${command}' answers with an envelope when the record of a run is invalid`, async () => {
      using damaged = new ProjectInProcess();
      for (const record of ['null', '{"state":7}']) {
        damaged.write('.runs/r-0000000000000000/metadata.json', record);
        assertRefused(await damaged.acor([...command.split(' '), 'r-0000000000000000']), op);
      }
    });
  }

  it('that crashes answers with an envelope: E_UNKNOWN, exit code 1, a stack only on request', async () => {
    using checkout = new TestProject();
    for (const name of ['node_modules', 'bunfig.toml', 'tsconfig.json', 'package.json'])
      symlinkSync(join(ROOT, name), checkout.path(name));
    cpSync(join(ROOT, 'src'), checkout.path('src'), { recursive: true });
    // An installation with a missing file.
    rmSync(checkout.path('src/core/config/load.ts'));
    for (const env of [{}, { DEBUG: '1' }]) {
      const program = join(ROOT, 'node_modules/.bin/bun');
      const { stdout, status } = spawnSync(program, [checkout.path('src/cli/main.ts'), 'list'], {
        cwd: checkout.root,
        env: { PATH: process.env.PATH ?? '', HOME: checkout.root, ...env },
        encoding: 'utf8',
      });
      const { error } = failure.parse(JSON.parse(stdout));
      assert.deepEqual(
        [status, error.code, typeof error.details?.stack],
        [1, 'E_UNKNOWN', 'DEBUG' in env ? 'string' : 'undefined'],
      );
      assert.match(error.message, /load\.ts/);
    }
  });
});

/** Asserts an envelope of a failure, alone on stdout, with the exit code of its code. */
function assertRefused({ stdout, stderr, code }: Finished, op: Operation<AcorApp>): void {
  const lines = stdout.split('\n');
  assert.deepEqual([lines.length, lines[1]], [2, ''], stdout + stderr);
  const { error, meta: about } = failure.parse(JSON.parse(lines[0]!));
  assert.equal(about.tool, op.name);
  assert.equal(code, ERROR_CODES[error.code as keyof typeof ERROR_CODES].exit, stdout);
}
