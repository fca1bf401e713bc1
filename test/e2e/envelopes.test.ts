import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import type { Operation } from '../../src/compose/operation.ts';
import type { AcorApp } from '../../src/operations/acor-app.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { ERROR_CODES } from '../../src/protocol/error-codes.ts';
import { parseLines, TestProject } from '../support/project.ts';

const meta = z.strictObject({
  tool: z.string(),
  elapsed: z.number().min(0),
  count: z.int().min(0).optional(),
  total: z.int().min(0).optional(),
  hasMore: z.boolean().optional(),
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

/** What a positional that has no default may be given. */
type Given = { run: string; failed: string; failedToo: string; tool: string; secretFile: string };

/** Arguments for commands that need more, or other, than a run or a tool by position. */
const ARGUMENTS: Readonly<Record<string, (given: Given) => string[]>> = {
  adopt: () => ['sort', '--dry-run'],
  approve: () => ['--list'],
  clean: () => ['--keep', '100', '--dry-run'],
  retry: ({ failedToo }) => [failedToo, '--no-stream'],
  resume: ({ failed }) => [failed, '--no-stream'],
  run: ({ tool }) => ['--no-stream', tool],
  'secret delete': () => ['API_TOKEN'],
  'secret set': ({ secretFile }) => ['API_TOKEN', '--file', secretFile],
};

/** Commands whose success needs a tool that waits for it; `questions.test.ts` has them. */
const ELSEWHERE = ['answer'];

describe('every command', () => {
  let project: TestProject;
  let given: Given;
  before(async () => {
    project = new TestProject({ tools: ['right_hash', 'quick', 'needs_three_tries'] });
    project.write(
      'tools/fails_once/cli.sh',
      '#!/bin/bash\n[ "$ACOR_ATTEMPT" = 1 ] && exit 30\necho \'{"type":"result","status":"ok"}\'\n',
      0o755,
    );
    const { end } = await project.run(['right_hash']);
    const { end: failed } = await project.run(['fails_once']);
    const { end: failedToo } = await project.run(['fails_once']);
    given = {
      run: String(end.run_id),
      failed: String(failed.run_id),
      failedToo: String(failedToo.run_id),
      tool: 'quick',
      secretFile: project.write('token.txt', 'correct horse battery\n'),
    };
    await project.acor(['secret', 'set', 'API_TOKEN', '--file', given.secretFile]);
  });
  after(() => project[Symbol.dispose]());

  function argumentsOf(command: string, op: Operation<AcorApp>): string[] {
    const own = ARGUMENTS[command];
    if (own !== undefined) return own(given);
    return (op.positionals ?? []).flatMap((name) => {
      if (op.input.shape[name]?.safeParse(undefined).success) return [];
      if (name === 'run' || name === 'tool') return [given[name]];
      throw new Error(`'${command}' needs '${name}': give ARGUMENTS in this file an entry for '${command}'`);
    });
  }

  for (const { command, load, hidden } of ROUTES) {
    if (hidden) continue;
    const words = command.split(' ');

    if (!ELSEWHERE.includes(command)) {
      it(`'${command}' answers with an envelope whose data is what its output schema says`, async () => {
        const op = await load();
        const args = [...words, ...argumentsOf(command, op)];
        const { stdout, stderr, code } = await project.acor(args);
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

    it(`'${command}' refuses an unknown flag as E_USAGE, exit code 1, with what to do`, async () => {
      const op = await load();
      const { stdout, stderr, code } = await project.acor([...words, '--no-such-flag']);
      const lines = stdout.split('\n');
      assert.deepEqual([code, lines.length, lines[1], stderr], [1, 2, '', '']);
      const envelope = failure.parse(JSON.parse(lines[0]!));
      assert.deepEqual(Object.keys(envelope), ['ok', 'error', 'meta']);
      assert.deepEqual([envelope.error.code, envelope.meta.tool], ['E_USAGE', op.name]);
      assert.match(envelope.error.message, /--no-such-flag/);
      assert.ok(envelope.meta.next?.includes(`acor ${command} --help`), JSON.stringify(envelope.meta));
    });

    it(`'${command}' shows help that begins with its example, which is a call of itself`, async () => {
      const op = await load();
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
});
