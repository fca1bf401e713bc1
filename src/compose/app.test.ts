import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callNotes, runNotes } from './fixtures/run-notes.ts';

const terminal = { stdoutIsTTY: true, stdinIsTTY: true };

describe('the envelope', () => {
  it('is one compact JSON line with its keys in a fixed order', async () => {
    const { stdout, exit } = await runNotes(['list', '--limit', '2']);
    assert.equal(exit, 0);
    assert.match(stdout, /^\{"ok":true,"data":\{.*\},"meta":\{.*\}\}\n$/);
    const { meta } = JSON.parse(stdout);
    assert.deepEqual(Object.keys(meta), ['tool', 'elapsed', 'count', 'total', 'hasMore', 'next']);
    assert.deepEqual(
      { ...meta, elapsed: 0 },
      {
        tool: 'note.list',
        elapsed: 0,
        count: 2,
        total: 7,
        hasMore: true,
        next: ['notes list --limit 2 --offset 2', 'notes add Buy'],
      },
    );
    assert.equal(typeof meta.elapsed, 'number');
  });

  it('leads from page to page by its next command, to each element once', async () => {
    for (const given of [
      ['list', '--limit', '3'],
      ['--limit=3', 'list', '--offset=0', '--fields', 'id'],
      ['list', '--offset', '1', '--input-json', '{"tag": ["even"]}', '--limit', '1'],
      ['list', '--limit', '3', '--'],
    ]) {
      const ids: string[] = [];
      let whole: string[] = [];
      for (let argv: string[] | undefined = given; argv !== undefined; ) {
        const { envelope, exit }: Awaited<ReturnType<typeof callNotes>> = await callNotes(argv);
        assert.equal(exit, 0, JSON.stringify(envelope));
        ids.push(...envelope.data.notes.map(({ id }: { id: string }) => id));
        whole = [...whole, JSON.stringify(Object.keys(envelope.data.notes[0]))];
        argv = envelope.meta.hasMore ? wordsOf(envelope.meta.next[0]).slice(1) : undefined;
      }
      const all = given.includes('{"tag": ["even"]}')
        ? ['n-3', 'n-5', 'n-7']
        : ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6', 'n-7'];
      assert.deepEqual(ids, all, given.join(' '));
      assert.equal(new Set(whole).size, 1, 'the selection of fields is lost on the way');
    }
  });

  it('does not lead on from a page of nothing, nor to do twice what changes something', async () => {
    const none = await callNotes(['list', '--limit', '0']);
    assert.deepEqual([none.envelope.meta.hasMore, none.envelope.meta.next], [true, ['notes add Buy']]);
    const added = await callNotes(['add', 'Buy', 'a', 'b', '--limit', '1']);
    assert.deepEqual([added.envelope.meta.hasMore, added.envelope.meta.next], [true, undefined]);
  });

  it('carries a failure with every key of the contract, in order', async () => {
    const { envelope, exit } = await callNotes(['remove', 'locked']);
    assert.equal(exit, 2);
    assert.deepEqual(Object.keys(envelope), ['ok', 'error', 'meta']);
    assert.deepEqual(Object.keys(envelope.error), [
      'code',
      'message',
      'hint',
      'class',
      'retryable',
      'action',
      'details',
    ]);
    assert.deepEqual(envelope.error, {
      code: 'E_LOCKED',
      message: 'It is locked.',
      hint: 'Run: notes unlock',
      class: 'policy_error',
      retryable: true,
      action: 'Unlock it.',
      details: { by: 'Ann', id: 'locked' },
    });
  });

  it('leaves out count, total, hasMore and next where they do not apply', async () => {
    const { envelope, exit } = await callNotes(['remove', 'n-1']);
    assert.deepEqual(Object.keys(envelope.meta), ['tool', 'elapsed']);
    assert.equal(exit, 2);
  });

  it('takes total and hasMore from an operation that pages itself, and leaves --limit to it', async () => {
    const { envelope } = await callNotes(['archive', 'page', '--limit', '3']);
    assert.deepEqual(
      envelope.data.map((each: { id: string }) => each.id),
      ['n-1', 'n-2', 'n-3'],
    );
    assert.deepEqual(
      { ...envelope.meta, elapsed: 0 },
      { tool: 'archive.page', elapsed: 0, count: 3, total: 7, hasMore: true },
    );
  });

  it('is the same object as TOON with --toon', async () => {
    const { decode } = await import('@toon-format/toon');
    const { stdout } = await runNotes(['list', '--limit', '1', '--toon']);
    const { envelope } = await callNotes(['list', '--limit', '1']);
    const decoded = decode(stdout.trimEnd()) as { data: unknown };
    assert.deepEqual(decoded.data, envelope.data);
    assert.deepEqual(Object.keys(decoded), Object.keys(envelope));
  });

  it('is what a person at a terminal gets with --json, and an agent at a terminal gets always', async () => {
    for (const io of [{}, { env: { CLAUDECODE: '1' } }]) {
      const { envelope } = await callNotes('env' in io ? ['list'] : ['list', '--json'], {
        ...terminal,
        ...io,
      });
      assert.equal(envelope.ok, true);
    }
  });
});

describe('errors', () => {
  it('of another class with a code of the table keep their code and next', async () => {
    const { envelope, exit } = await callNotes(['remove', 'foreign']);
    assert.equal(envelope.error.code, 'E_LOCKED');
    assert.deepEqual(envelope.meta.next, ['notes unlock']);
    assert.equal(exit, 2);
  });

  it('with a code outside the table are of class unknown, and say their own exit code', async () => {
    const { envelope, exit } = await callNotes(['remove', 'odd']);
    assert.deepEqual(
      [envelope.error.code, envelope.error.class, envelope.error.retryable],
      ['E_NEW', 'unknown', false],
    );
    assert.equal(exit, 2);
  });

  it('that no code names are E_UNKNOWN, ask to be reported, and show a stack only with DEBUG', async () => {
    const { envelope, exit } = await callNotes(['remove', 'system']);
    assert.equal(exit, 1);
    assert.equal(envelope.error.code, 'E_UNKNOWN');
    assert.match(envelope.error.message, /no such file/);
    assert.match(envelope.error.hint, /report it/);
    assert.equal(envelope.error.details, undefined);
    const debugged = await callNotes(['remove', 'system'], { env: { DEBUG: '1' } });
    assert.match(debugged.envelope.error.details.stack, /no such file/);
  });

  it('in a module that does not load, or in data that is not JSON, are envelopes too', async () => {
    assert.equal((await callNotes(['broken'])).envelope.error.code, 'E_UNKNOWN');
    assert.equal((await callNotes(['remove', 'circular'])).envelope.error.code, 'E_UNKNOWN');
  });

  it('after a signal say that the command was cancelled', async () => {
    const { envelope } = await callNotes(['remove', 'n-1'], { signal: AbortSignal.abort() });
    assert.equal(envelope.error.code, 'E_CANCELLED');
    assert.match(envelope.error.message, /cancelled/);
  });

  it('go to stderr for a person, without the terminal codes in untrusted text', async () => {
    const { stdout, stderr, exit } = await runNotes(['remove', 'esc'], terminal);
    assert.equal(stdout, '');
    assert.equal(exit, 2);
    assert.doesNotMatch(stderr.replaceAll(/\x1b\[\d+m/g, ''), /[\x1b\x07\x9b]/);
    assert.match(stderr, /^✗ E_LOCKED: evil {2}text\n {2}Run: notes unlock/);
  });

  it('in a stdout that cannot be written leave a word on stderr and exit 1', async () => {
    const { exit, stderr } = await runNotes(['list'], { stdoutFd: 9999 });
    assert.equal(exit, 1);
    assert.match(stderr, /could not be written/);
  });
});

describe('a command that is not one', () => {
  it('is an E_USAGE that names the nearest', async () => {
    const { envelope, exit } = await callNotes(['lst', '--all']);
    assert.equal(exit, 1);
    assert.equal(envelope.error.code, 'E_USAGE');
    assert.equal(envelope.error.message, 'unknown command "lst"');
    assert.match(envelope.error.hint, /Did you mean notes list\?/);
    assert.equal(envelope.meta.tool, 'notes');
    assert.equal(envelope.meta.next[0], 'notes list --help');
  });

  it('is distinguished from the beginning of a command', async () => {
    assert.match((await callNotes(['archive'])).envelope.error.hint, /archive page/);
    assert.match(
      (await callNotes(['archive', 'pge'])).envelope.error.hint,
      /Did you mean notes archive page\?/,
    );
  });

  it('is never suggested when it is hidden', async () => {
    assert.doesNotMatch((await callNotes(['brokn'])).envelope.error.hint, /broken/);
  });

  it('missing altogether is an E_USAGE naming tools and --help for an agent, and help for a person', async () => {
    const { envelope, exit } = await callNotes([]);
    assert.equal(exit, 1);
    assert.match(envelope.error.hint, /notes tools.*--help/);
    const person = await runNotes([], { ...terminal, env: { NO_COLOR: '1' } });
    assert.equal(person.exit, 0);
    assert.match(person.stdout, /^Example/m);
  });

  it('with an unknown flag and no word is an unknown flag', async () => {
    assert.match((await callNotes(['--jsn'])).envelope.error.message, /unknown flag --jsn/);
  });
});

describe('help and version', () => {
  it('show the example first, as text with exit 0, also without a terminal', async () => {
    for (const argv of [
      ['add', '--help'],
      ['help', 'add'],
      ['--help', 'add'],
      ['add', '--bogus', '-h'],
    ]) {
      const { stdout, exit } = await runNotes(argv);
      assert.equal(exit, 0, argv.join(' '));
      assert.match(stdout, /^Examples\n {2}notes add "Buy milk" home\n/);
      assert.match(stdout, /notes add \[flags\] <title> \[tags\.\.\.\]/);
      assert.match(stdout, /--\[no-\]pinned +Keep it on top\. \(default true\)/);
    }
  });

  it('group the commands by category and leave the hidden ones out', async () => {
    const { stdout } = await runNotes(['--help']);
    assert.match(stdout, /^note commands\n {2}add +Add a note\.\n {2}list +List the notes\.\n {2}remove/m);
    assert.doesNotMatch(stdout, /broken/);
    assert.doesNotMatch((await runNotes(['archive', '--help'])).stdout, /List the notes/);
  });

  it('need no more than the version line', async () => {
    assert.equal((await runNotes(['--version'])).stdout, 'notes 1.2.3\n');
    assert.equal((await runNotes(['list', '--version'])).stdout, 'notes 1.2.3\n');
  });
});

describe('a command', () => {
  it('loads its own module and no other', async () => {
    assert.deepEqual((await runNotes(['list'])).loaded, ['note.list']);
    assert.deepEqual((await runNotes(['lst'])).loaded, []);
  });

  it('takes global flags before, between and after its words', async () => {
    for (const argv of [
      ['--fields', 'id', 'archive', 'page'],
      ['archive', '--fields=id', 'page'],
      ['archive', 'page', '--fields', 'id'],
    ]) {
      assert.deepEqual((await callNotes(argv)).envelope.data, [{ id: 'n-1' }, { id: 'n-2' }], argv.join(' '));
    }
  });

  it('works in the directory that --cwd names, which must exist', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notes-')));
    const { envelope } = await callNotes(['context', '--cwd', folder]);
    assert.deepEqual([envelope.data.cwd, envelope.data.appCwd], [folder, folder]);
    assert.match(
      (await callNotes(['context', '--cwd', 'nowhere'])).envelope.error.message,
      /nowhere is not a directory/,
    );
  });

  it('learns the audience, and may ask only when stdin and stdout are terminals', async () => {
    const seen = async (io: Parameters<typeof runNotes>[1], argv = ['context']) => {
      const { stdout } = await runNotes(argv, io);
      return ['audience', 'structured', 'hasPerson'].map(
        (key) => new RegExp(`${key}\\W+(\\w+)`).exec(stdout)?.[1],
      );
    };
    const plain = { NO_COLOR: '1' };
    assert.deepEqual(await seen({}), ['agent', 'true', 'false']);
    assert.deepEqual(await seen({ ...terminal, env: plain }), ['person', 'false', 'true']);
    assert.deepEqual(await seen({ ...terminal, stdinIsTTY: false, env: plain }), [
      'person',
      'false',
      'false',
    ]);
    assert.deepEqual(await seen({ ...terminal, env: { CI: 'true', ...plain } }), ['person', 'false', 'true']);
    assert.deepEqual(await seen(terminal, ['context', '--json']), ['agent', 'true', 'false']);
  });

  it('writes its notes to stderr only', async () => {
    const { stdout, stderr } = await runNotes(['add', 'Milk']);
    assert.equal(stderr, 'adding\n');
    assert.equal(stdout.split('\n').length, 2);
  });

  it('honours its own --format, and streams what it prints itself', async () => {
    assert.match((await runNotes(['list', '--format', 'table'])).stdout, /^folder {2}inbox\nnotes\n {2}id/);
    assert.equal((await callNotes(['list', '--format', 'json'], terminal)).envelope.ok, true);
    assert.match((await runNotes(['list', '--format', 'csv', '--tag', 'even'])).stdout, /^id\nn-1\nn-3\n/);
    assert.match(
      (await callNotes(['add', 'Milk', '--format', 'csv'])).envelope.error.message,
      /--format must be text or json, not "csv"/,
    );
    assert.equal(
      (await callNotes(['list', '--format', 'table', '--fields', 'nme'])).envelope.error.code,
      'E_USAGE',
    );
  });

  it('that has written is not failed afterwards for a field its answer does not have', async () => {
    const { envelope, exit } = await callNotes(['add', 'Milk', '--fields', 'titel']);
    assert.equal(exit, 0);
    assert.equal(envelope.data.title, 'Milk');
    assert.match(
      String(envelope.meta.warnings),
      /^the whole answer is shown: unknown field "titel"\. Did you mean title\?/,
    );
  });
});

describe('input', () => {
  it('comes as a JSON object, from an argument, a file or stdin, and flags win over it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notes-'));
    writeFileSync(join(folder, 'in.json'), '{"title":"From file","pinned":false}');
    const json = '{"title":"Given","meta":{"a":1}}';
    assert.deepEqual((await callNotes(['add', '--input-json', json])).envelope.data, {
      title: 'Given',
      tags: [],
      pinned: true,
      meta: { a: 1 },
    });
    assert.equal(
      (await callNotes(['add', '--input-json', '@in.json', '--title', 'Flag'], { cwd: folder })).envelope.data
        .title,
      'Flag',
    );
    assert.equal(
      (await callNotes(['add', '--input-json', '-'], { stdin: json })).envelope.data.title,
      'Given',
    );
  });

  it('that is not an object, or has unknown keys, is refused with the nearest key', async () => {
    for (const bad of ['[]', '{', '3', '@missing']) {
      const { envelope } = await callNotes(['add', '--input-json', bad, 'Milk']);
      assert.equal(envelope.error.code, 'E_USAGE', bad);
    }
    const { envelope } = await callNotes(['add', 'Milk', '--input-json', '{"pined":true}']);
    assert.match(envelope.error.message, /unknown key "pined"/);
    assert.match(envelope.error.hint, /Did you mean pinned\?/);
  });

  it('is judged as a whole: every problem is named at once', async () => {
    const { envelope, exit } = await callNotes([
      'list',
      '--sort',
      'titel',
      '--min-size',
      'x',
      '--ratio',
      '--bogus',
      '--tagg=1',
    ]);
    assert.equal(exit, 1);
    const named = envelope.error.details.problems.map((each: { parameter: string }) => each.parameter);
    assert.deepEqual(named.toSorted(), ['--min-size', '--ratio', '--sort', '--tagg']);
    assert.match(envelope.error.hint, /Did you mean title\? /);
    assert.match(envelope.error.hint, /Did you mean --tag\?/);
    assert.deepEqual(envelope.meta.next, ['notes list --help']);
  });

  it('is judged by rules over several fields too', async () => {
    const { envelope } = await callNotes(['remove', 'both']);
    assert.deepEqual(envelope.error.details.problems, [
      { parameter: 'input', message: 'give one id, not both' },
    ]);
  });

  it('names what is required and what is not expected', async () => {
    assert.match((await callNotes(['add'])).envelope.error.message, /<title> is required/);
    assert.match((await callNotes(['remove', 'a', 'b'])).envelope.error.message, /unexpected argument "b"/);
  });
});

describe('an operation that passes arguments through', () => {
  const exec = async (...argv: string[]) => (await callNotes(['exec', ...argv])).envelope.data;

  it('gets them untouched, after the first positional', async () => {
    const { untouched, tool, timeout_s } = await exec(
      '--timeout-s',
      '3',
      'wc',
      '--json',
      '-x',
      '--',
      '--help',
      '--no-such',
    );
    assert.deepEqual(
      { untouched, tool, timeout_s },
      { untouched: ['--json', '-x', '--', '--help', '--no-such'], tool: 'wc', timeout_s: 3 },
    );
  });

  it('can take its own flags out of them, up to --, but none that the tool declares', async () => {
    const data = await exec(
      'wc',
      'a',
      '--timeout-s=7',
      '--no-stream',
      '--answer',
      'x=1',
      '--',
      '--timeout-s',
      '9',
    );
    assert.deepEqual(data.args, ['a', '--answer', 'x=1', '--timeout-s', '9']);
    assert.deepEqual([data.timeout_s, data.stream, data.answer], [7, false, []]);
  });

  it('refuses a wrong value of its own flag there too', async () => {
    const { envelope } = await callNotes(['exec', 'wc', '--timeout-s', '-1', '--no-stream', '--stream']);
    assert.equal(envelope.error.code, 'E_USAGE');
    assert.deepEqual(
      envelope.error.details.problems.map((each: { parameter: string }) => each.parameter),
      ['--timeout-s', '--stream'],
    );
  });
});

/** What a shell makes of a command. */
function wordsOf(command: string): string[] {
  return execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}
