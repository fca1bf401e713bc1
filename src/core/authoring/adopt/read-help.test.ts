import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { scoreCorpus, scoreOf } from '../../../../bench/support/adopt-score.ts';
import { manifestFile } from '../../../protocol/manifest.ts';
import { draftInputs } from './draft-inputs.ts';
import { draftManifest } from './draft-manifest.ts';
import { readHelp } from './read-help.ts';

const CORPUS = new URL('corpus/', import.meta.url);

describe('the reading of help texts', () => {
  const scores = scoreCorpus();
  const share = (of: readonly (typeof scores)[number][], key: 'found' | 'typesRight' | 'defaultsRight') =>
    of.reduce((sum, score) => sum + score[key], 0) / of.reduce((sum, score) => sum + score.expected, 0);

  it('finds more than 97 % of the options of the corpus, and the right type for more than 90 %', () => {
    assert.ok(scores.length >= 24);
    assert.ok(share(scores, 'found') > 0.97, `${share(scores, 'found')}`);
    assert.ok(share(scores, 'typesRight') > 0.9, `${share(scores, 'typesRight')}`);
    assert.ok(share(scores, 'defaultsRight') > 0.97, `${share(scores, 'defaultsRight')}`);
  });

  it('takes no other text for an option', () => {
    assert.deepEqual(
      scores.flatMap(({ program, falseOnes }) => falseOnes.map((each) => `${program}: ${each}`)),
      [],
    );
  });

  for (const style of new Set(scores.map((score) => score.style))) {
    it(`does not fall behind in the style of ${style}`, () => {
      const own = scores.filter((score) => score.style === style);
      assert.ok(share(own, 'found') > 0.9, own.flatMap(({ missing }) => missing).join('\n'));
      assert.ok(share(own, 'typesRight') >= 0.8, own.flatMap(({ wrong }) => wrong).join('\n'));
    });
  }

  it('is scored by what it misses and what it invents (the control of the above)', () => {
    const score = scoreOf(
      'x',
      'Options:\n  -a, --all   x\n  -o FILE     x\n',
      'style x\nwords x\n-a --all\n-b\n--out takes path',
    );
    assert.deepEqual(
      [score.found, score.missing, score.falseOnes],
      [1, ['-b', '--out takes path'], ['-o takes path']],
    );
    const wrong = scoreOf('x', '  -n NUM   x (default: 5)\n', 'style x\nwords x\n-n takes string default:6');
    assert.deepEqual([wrong.found, wrong.typesRight, wrong.defaultsRight], [1, 0, 0]);
  });

  it('comes to a manifest that holds, for each text', () => {
    for (const file of readdirSync(CORPUS).filter((each) => each.endsWith('.txt'))) {
      const words = [file.replace('.txt', '')];
      const help = readHelp(readFileSync(new URL(file, CORPUS), 'utf8'), words);
      const text = draftManifest({
        name: 'x',
        first: { command: words },
        last: {},
        source: `the help of '${words.join(' ')}'`,
        help,
        inputs: draftInputs(help),
        offered: [],
        reads: [],
      });
      const checked = manifestFile.safeParse(parse(text));
      assert.deepEqual(checked.error?.issues ?? [], [], file);
      assert.match(text, /^# DRAFT/);
      assert.ok(!('effects' in parse(text)));
    }
  });
});

describe('a help text', () => {
  const inputs = (text: string) => draftInputs(readHelp(text, ['x'])).inputs.map(({ keys }) => keys);

  it('loses its overstrikes, colours and tabs', () => {
    const plain = readHelp('N\bNA\bAM\bME\bE\n\t\x1b[1m-v\x1b[0m, _\b-_\b-verbose\tsay more\x1b]8;;x\x07\n', [
      'x',
    ]);
    assert.deepEqual(
      plain.options.map(({ spellings, text }) => [spellings, text]),
      [[['-v', '--verbose'], 'say more']],
    );
  });

  it('may speak of options in the description of another, and in its examples', () => {
    const text = [
      'Examples:',
      '  -z  is no option here',
      '',
      'Options:',
      '  -a, --all      all of them, which',
      '                 --some  would not be',
      '      --big      large',
    ].join('\n');
    const { options } = readHelp(text, ['x']);
    assert.deepEqual(
      options.map(({ spellings }) => spellings.join(' ')),
      ['-a --all', '--big'],
    );
  });

  it('finds required options and operands in the usage line', () => {
    const { options, positionals } = readHelp(
      'usage: x [-h] --input FILE [--level {1,2}] source [dest ...]\n\n  --input FILE  what to read\n  --level {1,2}\n',
      ['x'],
    );
    assert.deepEqual(
      options.filter((each) => each.isRequired).map(({ spellings }) => spellings),
      [['--input']],
    );
    assert.deepEqual(
      positionals.map(({ name, isRequired, repeats }) => [name, isRequired, repeats]),
      [
        ['source', true, false],
        ['dest', false, true],
      ],
    );
  });

  it('loses no operand of its calls: what is no input is reported', () => {
    const operands = (...calls: string[]) => {
      const { positionals, unread } = readHelp(`Usage: ${calls.join('\n  or:  ')}\n\n  -v  x\n`, ['x']);
      const named = positionals.map(
        (each) => `${each.name}${each.isRequired ? '!' : ''}${each.repeats ? '...' : ''}`,
      );
      return [...named, ...unread.map((each) => `unread: ${each}`)];
    };
    assert.deepEqual(operands('x [OPTION]... [+FORMAT]', 'x [-u] [MMDD[[CC]YY][.ss]]'), [
      '+FORMAT',
      'unread: MMDD[[CC]YY][.ss]',
    ]);
    assert.deepEqual(operands('x FILES\u2026'), ['FILES!...']);
    assert.deepEqual(operands('x [options] <name>...'), ['name!...']);
    assert.deepEqual(operands('x <name>@<version> [NAME=VALUE]...'), ['name@version!', 'NAME=VALUE...']);
    assert.deepEqual(operands('x DURATION COMMAND [ARG]...'), ['DURATION!', 'COMMAND!', 'ARG...']);
    assert.deepEqual(operands('x [-v]', 'x [-v] FILE'), ['FILE']);
    assert.deepEqual(operands('x FROM', 'x FROM TO'), ['FROM!', 'unread: x FROM TO']);
    assert.deepEqual(operands('x [OPTIONS...] [--] [FILE | -]'), ['FILE']);
    assert.deepEqual(operands('x [--omit <dev|peer> [--omit <dev|peer> ...]]'), []);
  });

  it('gives a switch that is on no default where its only spelling is a letter', () => {
    assert.deepEqual(
      inputs('Options:\n  -c  quick (default: true)\n  --fast  quick (default: true)\n').map(
        ({ name, default: value, joined }) => [name, value, joined],
      ),
      [
        ['c', undefined, undefined],
        ['fast', true, true],
      ],
    );
  });

  it('may begin its calls with a path and a name that have spaces', () => {
    for (const call of ['my tool.sh FILE', '/a b/my tool.sh FILE', 'other FILE']) {
      const { positionals } = readHelp(`Usage: ${call}\n\n  -v  x\n`, ['my tool.sh']);
      assert.deepEqual(
        positionals.map(({ name }) => name),
        ['FILE'],
        call,
      );
    }
  });

  it('takes the letters of a call for switches, and a word for an option', () => {
    const spellings = (call: string) =>
      readHelp(`usage: ${call}\n`, ['x']).options.map((each) => each.spellings[0]);
    assert.deepEqual(spellings('x [-46AaC] [-o file]'), ['-4', '-6', '-A', '-a', '-C', '-o']);
    assert.deepEqual(spellings('x [-help] [-verbose]'), ['-help', '-verbose']);
  });

  it('takes an option for required where click or another library says so behind its help', () => {
    const text =
      'Usage: x [OPTIONS]\n\nOptions:\n  --out PATH     [required]\n  --name TEXT    Whom.  [required]\n  --key TEXT     A key (required)\n  --kind TEXT    Of a required kind.\n';
    assert.deepEqual(
      inputs(text).map(({ name, required, description }) => [name, required, description]),
      [
        ['out', true, undefined],
        ['name', true, 'Whom.'],
        ['key', true, 'A key'],
        ['kind', undefined, 'Of a required kind.'],
      ],
    );
  });

  it('takes a word before the slash and the long spelling for a value', () => {
    const text = 'Options:\n  -f filename / --from-file filename:\n\n      Read the filter from the file.\n';
    assert.deepEqual(
      readHelp(text, ['x']).options.map(({ spellings, value }) => [spellings, value?.name]),
      [[['-f', '--from-file'], 'filename']],
    );
  });

  it('becomes inputs with the flag as the program spells it', () => {
    const text =
      '  -name string\n    \tthe name\n  --dry_run   x\n  --color[=WHEN]  x\n  -o FILE  x\n  --api-token STRING  x\n';
    assert.deepEqual(
      inputs(text).map(({ description: _, ...keys }) => keys),
      [
        { name: 'name', flag: '-name' },
        { name: 'dry_run', type: 'bool', flag: '--dry_run' },
        { name: 'color', joined: true },
        { name: 'o', type: 'path', flag: '-o', access: 'read' },
        { name: 'api_token', secret: true },
      ],
    );
  });

  it('gives a path that is written the right to it only where its name says so', () => {
    const found = inputs('  --output FILE  x\n  --input FILE  x\n  --log-file FILE  x\n');
    assert.deepEqual(
      found.map(({ access }) => access),
      ['write', 'read', 'write'],
    );
  });

  it('leaves out what a manifest cannot express, and says so', () => {
    const { inputs: found, leftOut } = draftInputs(readHelp('  --bind SRC DEST  x\n  --one ONE  x\n', ['x']));
    assert.deepEqual([found.length, leftOut], [1, ['--bind SRC DEST: takes 2 values']]);
  });

  it('is read to the end behind a line, brackets or words that no program writes', () => {
    const options = (text: string) => readHelp(text, ['x']).options.map(({ spellings }) => spellings[0]);
    assert.deepEqual(options(`  --a X  ${'long '.repeat(100_000)}\n  --b  y\n`), ['--a', '--b']);
    assert.deepEqual(options(`Usage: x\n  --a=${'{a,'.repeat(100_000)}\n  --b  y\n`), ['--a', '--b']);
    assert.deepEqual(options(`Usage: x ${'a'.repeat(100_000)}\n\n${'a'.repeat(100_000)}\n\n  --b  y\n`), [
      '--b',
    ]);
    assert.ok(options(`${'  -a,\n'.repeat(20_000)}\n  --b  y\n`).includes('--b'));
    const nested = `${'['.repeat(20)}X${']'.repeat(20)}`;
    assert.equal(readHelp(`  --a=${nested}  y\n`, ['x']).options[0]!.value!.name, nested);
  });

  it('lists subcommands under a heading, between commas and in columns', () => {
    const names = (text: string) => readHelp(text, ['x']).commands.map(({ name }) => name);
    assert.deepEqual(names('Usage: x <command>\n\nCommands:\n  add, a  Add it.\n  rm      Remove it.\n'), [
      'add',
      'rm',
    ]);
    assert.deepEqual(names('x <command>\n\nAll commands:\n\n    access, adduser,\n    audit\n'), [
      'access',
      'adduser',
      'audit',
    ]);
    assert.deepEqual(names('Standard commands\nca      ciphers   crl\n'), ['ca', 'ciphers', 'crl']);
  });
});
