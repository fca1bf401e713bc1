import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { TestProject } from '../support/project.ts';

const PYTHON = `import argparse
parser = argparse.ArgumentParser(description="Count the words of a file.")
parser.add_argument("input", help="the file to count")
parser.add_argument("--least", type=int, default=1)
parser.add_argument("--output", help="file to write the report to")
given = parser.parse_args()
words = len(open(given.input).read().split())
print(f"{words} words")
if given.output: open(given.output, "w").write(f"{words} words\\n")
`;

const BASH = `# Greets a person.
case "$1" in
  --help) echo "Usage: greet.sh [--loud] NAME"; echo; echo "  --loud   in capital letters"; exit 0 ;;
  --loud) echo "HELLO $2" ;;
  *) echo "hello $1" ;;
esac
`;

const NODE = `import { emitResult } from 'acor/tool';
if (process.argv.includes('--help')) console.log('Usage: sum [options]\\n\\nOptions:\\n  --add <n>   a number to add (default: 1)');
else emitResult({ data: { sum: Number(process.argv.at(-1)) + 1 } });
`;

type Draft = { name: string; file: string; inputs: number; manifest: string; not_understood: string[] };

describe('acor adopt of a script of the project', () => {
  it('writes the manifest beside a Python, bash or Node script, which passes validate --strict and runs', async () => {
    using project = new TestProject();
    project.write('tools/count/cli.py', PYTHON);
    project.write('tools/greet/greet.sh', BASH);
    project.write('tools/sum/main.mjs', NODE);
    project.write('words.txt', 'one two three\n');
    const advice = await project.envelope(['validate']);
    const [named] = advice.data.findings.filter(({ rule }: { rule: string }) => rule === 'no-manifest');
    assert.match(JSON.stringify(named), /acor adopt tools\/count\/cli\.py/);

    for (const [path, name] of [
      ['tools/count/cli.py', 'count'],
      ['tools/greet/greet.sh', 'greet'],
      ['tools/sum/main.mjs', 'sum'],
    ] as const) {
      const { ok, data, meta, error } = await project.envelope(['adopt', path]);
      assert.ok(ok, JSON.stringify(error));
      const [draft] = data.drafts as Draft[];
      assert.equal(draft!.name, name);
      assert.equal(draft!.file, project.path('tools', name, 'tool.yaml'));
      assert.ok(draft!.inputs > 0);
      const { entry, inputs } = parse(readFileSync(draft!.file, 'utf8'));
      // A call without a required input would be refused.
      const isReady = inputs.every(({ required }: { required?: boolean }) => required !== true);
      assert.deepEqual(meta.next.slice(1), [
        `acor describe ${name}`,
        ...(isReady ? [`acor run ${name} --dry-run`, `acor learn ${name}`] : []),
      ]);
      assert.equal(`tools/${name}/${entry}`, path);
    }
    const strict = await project.envelope(['validate', '--strict', '--selftest', 'count', 'greet', 'sum']);
    assert.deepEqual(strict.data?.findings ?? strict.error, []);

    const counted = await project.envelope([
      'run',
      'count',
      '--no-stream',
      '--output',
      'report.txt',
      'words.txt',
    ]);
    assert.equal(counted.data?.result.data.output, '3 words', JSON.stringify(counted));
    assert.equal(readFileSync(project.path('report.txt'), 'utf8'), '3 words\n');
    const greeted = await project.envelope(['run', 'greet', '--no-stream', '--loud', 'Ada']);
    assert.equal(greeted.data?.result.data.output, 'HELLO Ada', JSON.stringify(greeted));
    const summed = await project.envelope(['run', 'sum', '--no-stream', '--add', '41']);
    assert.deepEqual(summed.data?.result.data, { sum: 42 }, JSON.stringify(summed));
  });

  it('passes on what the caller of a script with subcommands writes, whose options its help does not list', async () => {
    using project = new TestProject();
    const lines = [
      'import argparse',
      'parser = argparse.ArgumentParser(description="Keeps a list of things.")',
      'parser.add_argument("--verbose", action="store_true")',
      'commands = parser.add_subparsers(dest="command", required=True)',
      'commands.add_parser("add", help="Add a thing").add_argument("--count", type=int)',
      'commands.add_parser("remove")',
      'print(vars(parser.parse_args()))',
    ];
    project.write('tools/things/cli.py', `${lines.join('\n')}\n`);
    const { data } = await project.envelope(['adopt', 'tools/things/cli.py']);
    const [draft] = data.drafts;
    assert.deepEqual(draft.not_understood, [
      'the options of its subcommands (add, remove): every argument is accepted',
    ]);
    assert.equal((await project.envelope(['validate', 'things', '--strict'])).ok, true);
    const run = await project.envelope(['run', 'things', 'add', '--count', '3', '--no-stream']);
    assert.match(run.data.result.data.output, /'command': 'add', 'count': 3/);
  });

  it('puts the manifest of a single file into the registry', async () => {
    using project = new TestProject();
    project.write('tools/count.py', PYTHON, 0o755);
    const { data } = await project.envelope(['adopt', 'tools/count.py']);
    assert.equal(data.drafts[0].file, project.path('.acor/registry/count/tool.yaml'));
    const strict = await project.envelope(['validate', '--strict', 'count']);
    assert.deepEqual(strict.data?.findings ?? strict.error, []);
    const again = await project.envelope(['adopt', './count.py'], { cwd: project.path('tools') });
    assert.equal(again.error.code, 'E_USAGE');
    assert.match(again.error.message, /the tool 'count' has a manifest/);
    assert.deepEqual(again.meta.next, ['acor validate count']);
  });

  it('adopts scripts whose names have spaces, with the operands that they name', async () => {
    using project = new TestProject();
    const script =
      '#!/bin/bash\n[ "$1" = --help ] && echo "Usage: $0 [--loud] FILES\u2026" && exit 0\necho "$#: $(cat "$@")"\n';
    project.write('tools/the tool/my cli.sh', script, 0o755);
    project.write('tools/my count.py', PYTHON, 0o755);
    project.write('words.txt', 'one two\n');
    project.write('more.txt', 'three\n');
    const inputs = async (path: string) => {
      const { data, error } = await project.envelope(['adopt', path]);
      const { inputs: drafted } = parse(readFileSync(data?.drafts[0].file ?? error.message, 'utf8'));
      return drafted.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await inputs('tools/the tool/my cli.sh'), ['loud', 'FILES']);
    assert.deepEqual(await inputs('tools/my count.py'), ['least', 'output', 'input']);
    const ran = await project.envelope(['run', 'the-tool', '--no-stream', 'words.txt', 'more.txt']);
    assert.equal(ran.data?.result.data.output, '2: one two\nthree', JSON.stringify(ran.error));
    const counted = await project.envelope(['run', 'my-count', '--no-stream', 'words.txt']);
    assert.equal(counted.data?.result.data.output, '2 words', JSON.stringify(counted.error));
  });

  it('takes a script without a help text, and says that every argument is accepted', async () => {
    using project = new TestProject();
    project.write('tools/mute/cli.sh', 'echo "got: $*"\n');
    const { data } = await project.envelope(['adopt', 'tools/mute/cli.sh']);
    const [draft] = data.drafts as Draft[];
    assert.match(draft!.not_understood.join(), /no usable help; every argument is accepted/);
    const { data: ran } = await project.envelope(['run', 'mute', '--no-stream', '--any', 'thing']);
    assert.equal(ran.result.data.output, 'got: --any thing');
  });

  it('refuses what is no entry, is in no tools folder, or has options of a program, and writes nothing in a dry run', async () => {
    using project = new TestProject();
    project.write('tools/count/cli.py', PYTHON);
    project.write('tools/count/helper.py', 'x = 1\n');
    project.write('scripts/other.py', PYTHON);
    project.write('scripts/executable.py', PYTHON, 0o755);
    const helper = await project.envelope(['adopt', 'tools/count/helper.py']);
    assert.match(helper.error.message, /is not the entry of the tool 'count'/);
    assert.deepEqual(helper.meta.next, ['acor adopt tools/count/cli.py']);
    for (const path of ['scripts/other.py', 'scripts/executable.py']) {
      const { error, meta } = await project.envelope(['adopt', path]);
      assert.match(error.message, /is a script in none of the tools folders/);
      assert.match(error.hint, /Move it to tools\/\w+\/cli\.py/);
      assert.deepEqual(meta.next, [`acor run ./${path}`]);
    }
    project.write(
      'scripts/greet.sh',
      '#!/bin/bash\n# acor: name: greet\n# acor: inputs: [{ name: who, required: true }]\necho hi\n',
    );
    const known = await project.envelope(['adopt', 'scripts/greet.sh']);
    assert.match(known.error.hint, /nothing to draft.*Usage: `run \.\/scripts\/greet\.sh --who <string>/);
    assert.deepEqual(known.meta.next, ['acor describe ./scripts/greet.sh']);
    assert.equal((await project.envelope(['describe', './scripts/greet.sh'])).ok, true);
    const recursive = await project.envelope(['adopt', 'tools/count/cli.py', '--recursive']);
    assert.equal(recursive.error.code, 'E_USAGE');
    const dry = await project.envelope(['adopt', 'tools/count/cli.py', '--dry-run']);
    assert.match(dry.data.drafts[0].manifest, /entry: cli\.py/);
    assert.ok(!existsSync(project.path('tools/count/tool.yaml')));
  });
});
