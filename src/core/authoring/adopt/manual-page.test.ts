import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { draftInputs } from './draft-inputs.ts';
import { helpOf, manualPage, sharedFolders } from './manual-page.ts';
import { completed } from './merge-sources.ts';
import { readHelp } from './read-help.ts';
import { saysRepeats } from './repeats.ts';
import { roffLines } from './roff.ts';

const CORPUS = new URL('corpus/', import.meta.url);
const recorded = (file: string) => readFileSync(new URL(file, CORPUS), 'utf8');
const pageOf = (file: string, words: string[]) => helpOf(roffLines(recorded(file)).join('\n'), words);

describe('a manual page', () => {
  it('has options with their values, in the macros of man', () => {
    const { options, description } = pageOf('git-log.1', ['git', 'log']);
    assert.equal(description, 'Show commit logs');
    assert.deepEqual(
      options.map(({ spellings, negations, value }) => [spellings, negations, value?.name ?? null]),
      [
        [['--decorate'], ['--no-decorate'], 'short|full|auto|no'],
        [['-n', '--max-count'], [], '<number>'],
        [['--since', '--after'], [], '<date>'],
        [['--author', '--committer'], [], '<pattern>'],
        [['--oneline'], [], null],
      ],
    );
    assert.match(options.at(-1)!.text, /^This is a shorthand for "--pretty=oneline --abbrev-commit"/);
  });

  it('has options with their values, in the macros of mdoc', () => {
    const { options, description } = pageOf('ssh.1', ['ssh']);
    assert.equal(description, 'OpenSSH remote login client');
    assert.deepEqual(
      options.map(({ spellings, value }) => [spellings[0], value?.name ?? null]),
      [
        ['-B', 'bind_interface'],
        ['-b', 'bind_address'],
        ['-C', null],
        ['-v', null],
        ['-W', 'host:port'],
      ],
    );
  });

  it('gives an option its long spelling, and may have its options behind bullets', () => {
    const page =
      '.TH X 1\n.SH OPTIONS\n.IP "\\[ci]" 4\n\\fB\\-\\-slurp\\fR/\\fB\\-s\\fR:\n.IP\nRead all.\n.IP "\\[bu]" 2\na point\n';
    const further = helpOf(roffLines(page).join('\n'), ['x']);
    const { options } = completed(readHelp('  -s   read all\n', ['x']), 'the manual page x(1)', further);
    assert.deepEqual(
      options.map(({ spellings, text, source }) => [spellings, text, source]),
      [[['-s', '--slurp'], 'read all', undefined]],
    );
  });

  it('completes a help text: repeated options, and others with their source', () => {
    const help = readHelp(recorded('curl-help-all.txt'), ['curl']);
    const more = completed(help, 'the manual page curl(1)', pageOf('curl.1', ['curl']));
    const inputs = draftInputs(more).inputs;
    const of = (drafts: typeof inputs, name: string) => drafts.find(({ keys }) => keys['name'] === name);
    assert.equal(of(inputs, 'header')!.keys['multiple'], true);
    assert.equal(of(draftInputs(help).inputs, 'header')!.keys['multiple'], undefined);
    assert.equal(of(inputs, 'request')!.keys['multiple'], undefined);
    assert.equal(of(inputs, 'header')!.source, undefined);

    const log = completed(
      readHelp('usage: git log\n\n    -q, --quiet   suppress diff output\n', ['git', 'log']),
      'the manual page git-log(1)',
      pageOf('git-log.1', ['git', 'log']),
    );
    assert.deepEqual(
      draftInputs(log).inputs.map(({ keys, source }) => [keys['name'], source]),
      [
        ['quiet', undefined],
        ...['decorate', 'no_decorate', 'max_count', 'since', 'after', 'author', 'committer', 'oneline'].map(
          (name) => [name, 'the manual page git-log(1)'],
        ),
      ],
    );
  });

  it('limits no value by its prose, which names some of the values', () => {
    const option = '  --format=<format>  can be one of oneline, short or full (default: short)\n';
    const of = (help: ReturnType<typeof readHelp>) => draftInputs(help).inputs[0]!.keys;
    assert.deepEqual(of(readHelp(option, ['x']))['enum'], ['oneline', 'short', 'full']);
    const { enum: choices, default: fallback } = of(
      completed(readHelp('', ['x']), 'the manual page x(1)', readHelp(option, ['x'])),
    );
    assert.deepEqual([choices, fallback], [undefined, undefined]);
  });

  it('is found beside the program, packed or not, and never through a link out of its folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-page-'));
    try {
      for (const each of ['bin', 'share/man/man1', 'share/man/man8'])
        mkdirSync(join(folder, each), { recursive: true });
      writeFileSync(join(folder, 'bin/x'), '', { mode: 0o755 });
      const shared = sharedFolders(join(folder, 'bin/x'));
      const page = '.TH X 1\n.SH OPTIONS\n.TP\n\\fB\\-\\-all\\fR\nAll of them.\n';
      const optionsOf = (...words: string[]) => manualPage(shared, words)?.help.options.length;
      writeFileSync(join(folder, 'share/man/man8/x-add.8.gz'), gzipSync(page));
      writeFileSync(join(folder, 'share/man/man1/x.1'), page);
      writeFileSync(join(folder, 'share/man/man1/y.1'), '.so man1/x.1\n');
      assert.deepEqual([optionsOf('x'), optionsOf('x', 'add'), optionsOf('y')], [1, 1, 1]);

      writeFileSync(join(folder, 'elsewhere.1'), page);
      symlinkSync(join(folder, 'elsewhere.1'), join(folder, 'share/man/man1/out.1'));
      symlinkSync(join(folder, 'share/man/man1/x.1'), join(folder, 'share/man/man1/in.1'));
      assert.deepEqual([optionsOf('out'), optionsOf('in')], [undefined, 1]);
      assert.equal(optionsOf('../man1/x'), undefined);

      writeFileSync(join(folder, 'share/man/man1/bomb.1.gz'), gzipSync(Buffer.alloc(8 * 1_048_576, page)));
      writeFileSync(join(folder, 'share/man/man1/large.1'), Buffer.alloc(2 * 1_048_576, page));
      mkdirSync(join(folder, 'share/man/man1/folder.1'));
      assert.deepEqual(
        [optionsOf('bomb'), optionsOf('large'), optionsOf('folder')],
        [undefined, undefined, undefined],
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('says that an option may be repeated only where a repetition adds something', () => {
    assert.ok(saysRepeats('Adds a header. -H, --header can be used several times in a command line'));
    assert.ok(saysRepeats('This option can be used multiple times.'));
    assert.ok(!saysRepeats('If -X is provided several times, the last set value will be used.'));
    assert.ok(!saysRepeats('Providing --all multiple times has no extra effect.'));
  });
});
