import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { acceptedLines } from '../../test/support/corpus.ts';
import { ERROR_CODES } from './error-codes.ts';
import { checkMessage } from './v1/check-message.ts';
import { RUNNER_EVENTS } from './v1/runner-events.ts';
import { TASK_MESSAGES, TOOL_MESSAGES } from './v1/tool-messages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUN = join(ROOT, 'node_modules/.bin/bun');
const SCHEMAS = { ...TOOL_MESSAGES, ...TASK_MESSAGES, ...RUNNER_EVENTS };
const page = readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8');
const examples = page.split('\n').filter((line) => line.startsWith('{'));

describe('docs/protocol.md', () => {
  it('shows only messages that hold, each a line of the corpus', () => {
    const corpus = new Set(acceptedLines().map(({ line }) => line));
    const answers = examples.filter((line) => JSON.parse(line).type === 'action_answer');
    const messages = examples.filter((line) => !answers.includes(line));
    for (const line of messages) {
      const message = JSON.parse(line);
      assert.equal(checkMessage(message), undefined, line);
      const schema = SCHEMAS[message.type as keyof typeof SCHEMAS];
      assert.ok(schema.safeParse(message).success, line);
      assert.ok(corpus.has(line), `not in the corpus: ${line}`);
    }
    assert.ok(messages.length >= 23, `${messages.length} examples`);
    assert.deepEqual(
      answers.map((line) => Object.keys(JSON.parse(line))),
      [['v', 'type', 'action_id', 'answer']],
    );
  });

  it('has an example of every type', () => {
    const shown = new Set(examples.map((line) => JSON.parse(line).type));
    assert.deepEqual(
      Object.keys(SCHEMAS).filter((type) => !shown.has(type)),
      [],
    );
  });

  it('names every field that the schema of a type has', () => {
    const envelope = ['v', 'type', 'ts', 'run_id', 'trace_id', 'span_id', 'seq'];
    for (const [type, { shape }] of Object.entries(SCHEMAS)) {
      for (const field of Object.keys(shape)) {
        const isShown =
          page.includes(`\`${field}\``) || examples.some((line) => line.includes(`"${field}":`));
        assert.ok(isShown, `${type}.${field}`);
      }
    }
    for (const field of envelope) assert.ok(page.includes(`\`${field}\``), field);
  });

  it('shows by echo what the runner can complete', () => {
    const echoed = [...page.matchAll(/^echo '(\{.*\})'$/gm)].map(([, line]) => JSON.parse(line ?? ''));
    assert.equal(echoed.length, 2);
    for (const message of echoed) {
      const completed = { v: 1, ts: '2025-08-30T12:34:56Z', run_id: 'r-1', ...message };
      assert.equal(checkMessage(completed), undefined, JSON.stringify(message));
    }
  });
});

describe('the tables of the docs', () => {
  it('say what the code says', () => {
    const check = checkIn(ROOT);
    assert.equal(check.stderr, '');
    assert.equal(check.status, 0);
    const errors = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
    for (const code of Object.keys(ERROR_CODES)) assert.ok(errors.includes(`| \`${code}\` |`), code);
  });

  it('are called stale by name when they are, and the printed command fixes them', () => {
    const copy = mkdtempSync(join(tmpdir(), 'acor-docs-'));
    try {
      for (const part of [
        'src/protocol',
        'src/compose',
        'src/util',
        'src/operations/command-forms.ts',
        'src/core/authoring/validation/rules.ts',
        'src/core/authoring/contract',
        'scripts/write-docs.ts',
        'docs',
        'package.json',
      ]) {
        cpSync(join(ROOT, part), join(copy, part), { recursive: true });
      }
      replaceIn(join(copy, 'docs/errors.md'), '| `E_DEADLINE` |', '| `E_DEADLINES` |');
      replaceIn(join(copy, 'docs/protocol.md'), '<!-- /run-states -->', '');
      const check = checkIn(copy);
      assert.equal(check.status, 1);
      const lines = check.stderr.split('\n');
      assert.equal(lines[0], "docs/errors.md: the table 'error-codes' is stale");
      assert.match(lines[1] ?? '', /^docs\/protocol\.md lacks the markers .* <!-- \/run-states -->$/);
      cpSync(join(ROOT, 'docs/protocol.md'), join(copy, 'docs/protocol.md'));
      spawnSync(BUN, ['scripts/write-docs.ts'], { cwd: copy });
      assert.equal(checkIn(copy).status, 0);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
});

function checkIn(folder: string): { status: number | null; stderr: string } {
  return spawnSync(BUN, ['scripts/write-docs.ts', '--check'], { cwd: folder, encoding: 'utf8' });
}

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8');
  assert.ok(text.includes(from));
  writeFileSync(file, text.replace(from, to));
}
