import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { canGiveUsers } from '../../src/core/sandbox/identity/run-users.ts';
import { composeKit } from '../support/compose-kit.ts';
import { TestProject } from '../support/project.ts';

const root = dirname(dirname(import.meta.dirname));
const NODE = realpathSync(join(root, 'node_modules', '.bin', 'node'));

const COMMANDER = `#!/usr/bin/env node
import { Command, Option } from 'commander';
const program = new Command('shelf').version('2.1.0').description('Keeps books.');
program.option('-c, --config <file>', 'the settings', 'shelf.json');
const book = program.command('book').alias('b').description('Books');
book.command('list').alias('ls').description('List the books')
  .option('-t, --tag <tag...>', 'only with these tags')
  .addOption(new Option('-s, --sort <key>', 'the order').choices(['title', 'year']).default('title'))
  .option('--no-color', 'without colours').option('-l, --limit <n>', 'at most', Number, 10)
  .action((o, c) => { for (const t of o.tag ?? ['a', 'b']) console.log(t, o.sort, o.color, o.limit, c.optsWithGlobals().config); });
book.command('add').description('Add books').argument('<shelf>', 'where').argument('[titles...]', 'what').option('-q, --quiet', 'say nothing')
  .action((shelf, titles, o) => { if (shelf === 'full') { console.error('the shelf is full'); process.exit(3); } if (!o.quiet) console.log(shelf, titles.join('|')); });
const tags = book.command('tag').description('Tags');
tags.command('remove').description('Remove a tag').argument('<tag>', 'which').option('-f, --force').action((tag, o) => console.log('removed', tag, o.force ?? false));
program.command('info').description('Show the shelf').option('--json', 'as JSON').action((o) => console.log(o.json ? '{"books":2}' : 'two books'));
await program.parseAsync();
`;
const YARGS = `#!/usr/bin/env node
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
yargs(hideBin(process.argv)).scriptName('shelf').version('2.1.0')
  .option('config', { alias: 'c', type: 'string', default: 'shelf.json', describe: 'the settings' })
  .command('book <command>', 'Books', (y) => y
    .command(['list', 'ls'], 'List the books', (z) => z
      .option('tag', { alias: 't', type: 'string', array: true, describe: 'only with these tags' })
      .option('sort', { alias: 's', choices: ['title', 'year'], default: 'title', describe: 'the order' })
      .option('color', { type: 'boolean', default: true, describe: 'with colours' })
      .option('limit', { alias: 'l', type: 'number', default: 10, describe: 'at most' }),
      (o) => { for (const t of o.tag ?? ['a', 'b']) console.log(t, o.sort, o.color, o.limit, o.config); })
    .command('add <shelf> [titles..]', 'Add books', (z) => z.positional('shelf', { describe: 'where', type: 'string' }).option('quiet', { alias: 'q', type: 'boolean' }),
      (o) => { if (o.shelf === 'full') { console.error('the shelf is full'); process.exit(3); } if (!o.quiet) console.log(o.shelf, (o.titles ?? []).join('|')); })
    .command('tag <command>', 'Tags', (z) => z.command('remove <tag>', 'Remove a tag', (w) => w.option('force', { alias: 'f', type: 'boolean', default: false }), (o) => console.log('removed', o.tag, o.force)).demandCommand())
    .demandCommand())
  .command('info', 'Show the shelf', (y) => y.option('json', { type: 'boolean', describe: 'as JSON' }), (o) => console.log(o.json ? '{"books":2}' : 'two books'))
  .demandCommand().strict().parse();
`;
const OCLIF = {
  'cli.mjs': `#!/usr/bin/env node\nimport { execute } from '@oclif/core';\nawait execute({ dir: import.meta.url });\n`,
  'commands/book/list.js': `import { Command, Flags } from '@oclif/core';
export default class List extends Command { static description = 'List the books'; static aliases = ['book:ls'];
  static flags = { tag: Flags.string({ char: 't', multiple: true, description: 'only with these tags' }), sort: Flags.string({ char: 's', options: ['title', 'year'], default: 'title', description: 'the order' }),
    color: Flags.boolean({ allowNo: true, default: true, description: 'with colours' }), limit: Flags.integer({ char: 'l', default: 10, description: 'at most' }), config: Flags.string({ char: 'c', default: 'shelf.json', description: 'the settings' }) };
  async run() { const { flags: o } = await this.parse(List); for (const t of o.tag ?? ['a', 'b']) console.log(t, o.sort, o.color, o.limit, o.config); } }
`,
  'commands/book/add.js': `import { Args, Command, Flags } from '@oclif/core';
export default class Add extends Command { static description = 'Add books'; static strict = false; static args = { shelf: Args.string({ required: true, description: 'where' }), titles: Args.string({ multiple: true, description: 'what' }) };
  static flags = { quiet: Flags.boolean({ char: 'q', description: 'say nothing' }) };
  async run() { const { args, argv, flags } = await this.parse(Add); if (args.shelf === 'full') { console.error('the shelf is full'); process.exit(3); } if (!flags.quiet) console.log(args.shelf, argv.slice(1).join('|')); } }
`,
  'commands/book/tag/remove.js': `import { Args, Command, Flags } from '@oclif/core';
export default class Remove extends Command { static description = 'Remove a tag'; static args = { tag: Args.string({ required: true, description: 'which' }) }; static flags = { force: Flags.boolean({ char: 'f', default: false }) };
  async run() { const { args, flags } = await this.parse(Remove); console.log('removed', args.tag, flags.force); } }
`,
  'commands/info.js': `import { Command, Flags } from '@oclif/core';
export default class Info extends Command { static description = 'Show the shelf'; static flags = { json: Flags.boolean({ description: 'as JSON' }) };
  async run() { const { flags } = await this.parse(Info); console.log(flags.json ? '{"books":2}' : 'two books'); } }
`,
};
const SHELVES: Readonly<Record<string, { install: string; files: Readonly<Record<string, string>> }>> = {
  commander: { install: 'commander', files: { 'cli.mjs': COMMANDER } },
  yargs: { install: 'yargs', files: { 'cli.mjs': YARGS } },
  oclif: { install: '@oclif/core', files: OCLIF },
};
/** With flags and words of the kit that the old program has itself, and a failure. */
const OLD_CALLS: readonly (readonly string[])[] = [
  ['--help'],
  ['book', 'list', '--limit=4', '--sort=size'],
  ['book', 'add', 'full', 'One'],
  ['info', '--json'],
  ['no-such-command'],
];
/** Each is forwarded in the same way, whatever the library. */
const MORE_OLD_CALLS: readonly (readonly string[])[] = [
  [],
  ['--version'],
  ['book', '--help'],
  ['book', 'list'],
  ['book', 'ls', '-t', 'x', '-t', 'y', '--sort', 'year', '--no-color', '-l', '3'],
  ['book', 'add', 'top', 'One', 'Two words'],
  ['book', 'add'],
  ['book', 'tag', 'remove', 'old', '-f'],
  ['book', 'list', '--no-such-flag'],
];

/** Copies a package and what it needs: the sandbox shows a program its own folder only. */
function install(name: string, folder: string): void {
  const target = join(folder, 'node_modules', name);
  if (existsSync(target)) return;
  const from = join(root, 'node_modules', name);
  if (!existsSync(from)) return;
  cpSync(from, target, { recursive: true });
  const nested = join(from, 'node_modules');
  const inner = existsSync(nested) ? readdirSync(nested).map((each) => join(nested, each)) : [];
  for (const each of [from, ...inner]) {
    const file = join(each, 'package.json');
    const { dependencies = {} } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    for (const needed of Object.keys(dependencies)) install(needed, folder);
  }
}

/** What a call of a program writes, and how it ends. */
interface Done {
  stdout: string;
  stderr: string;
  status: number | null;
}

describe('acor compose codemod', () => {
  let kit: string;
  /** A workspace: a package for each library, with the same packages. */
  let project: TestProject;

  before(() => {
    kit = composeKit();
    project = new TestProject();
    for (const [library, { install: needed, files }] of Object.entries(SHELVES)) {
      const fields = { name: 'shelf', version: '2.1.0', type: 'module', bin: { shelf: './cli.mjs' } };
      const oclif = { bin: 'shelf', commands: './commands', topicSeparator: ' ' };
      const manifest = { ...fields, ...(library === 'oclif' && { oclif }) };
      project.write(`${library}/package.json`, JSON.stringify(manifest));
      for (const [name, text] of Object.entries(files)) project.write(`${library}/${name}`, text);
      execFileSync('chmod', ['+x', project.path(library, 'cli.mjs')]);
      install(needed, project.root);
    }
    project.write('tsconfig.json', TSCONFIG);
    for (const each of ['zod', '@types/node', 'undici-types']) install(each, project.root);
    cpSync(kit, project.path('node_modules', '@acor', 'compose'), { recursive: true });
    execFileSync('chmod', ['-R', 'go+rX', project.root]);
  });
  after(() => project[Symbol.dispose]());

  const env = () => ({ PATH: dirname(NODE), NODE_COMPILE_CACHE: project.path('compiled') });

  /** Calls a module of the package for a library. */
  function call(library: string, file: string, args: readonly string[]): Done {
    const { stdout, stderr, status } = spawnSync(NODE, [file, ...args], {
      cwd: project.path(library),
      env: env(),
      encoding: 'utf8',
    });
    return { stdout, stderr, status };
  }

  for (const library of Object.keys(SHELVES))
    it(`writes what it has planned for a program on ${library}`, async () => {
      const planned = await project.envelope(['compose', 'codemod', library, '--dry-run']);
      assert.ok(planned.ok, JSON.stringify(planned.error));
      assert.equal(existsSync(project.path(library, 'agent')), false);
      const written = await project.envelope(['compose', 'codemod', library]);
      assert.ok(written.ok, JSON.stringify(written.error));
      assert.equal(written.data.library, library);
      assert.deepEqual(written.data.commands.map((each: { command: string }) => each.command).toSorted(), [
        'book add',
        'book list',
        'book tag remove',
        'info',
      ]);
      for (const { path, text } of planned.data.files)
        assert.equal(readFileSync(project.path(path), 'utf8'), text);
    });

  it('plans the same with the compiled program alone, without the files of a checkout', async () => {
    const alone = project.path('alone', 'acor');
    mkdirSync(dirname(alone));
    copyFileSync(join(root, 'dist', 'acor'), alone);
    const plan = ['compose', 'codemod', 'commander', '--dry-run'];
    const planned = await project.startProgram(alone, plan, {
      env: { XDG_CACHE_HOME: project.path('cache') },
    }).finished;
    const { ok, data, error } = JSON.parse(planned.stdout);
    assert.ok(ok, JSON.stringify(error));
    assert.deepEqual(data, (await project.envelope(plan)).data);
  });

  it('names the folder that a strict umask has closed to the user of the sandbox, and its fix', {
    skip: !canGiveUsers() && 'needs root, whose sandbox has another user',
  }, async () => {
    const before = process.umask(0o077);
    try {
      cpSync(project.path('commander'), project.path('closed'), { recursive: true });
      execFileSync('chmod', ['-R', 'go=', project.path('closed')]);
      const plan = () => project.envelope(['compose', 'codemod', 'closed', '--dry-run']);
      const [, command] = /Open it: (chmod -R a\+rX \S+)$/.exec((await plan()).error!.hint)!;
      assert.equal(spawnSync('sh', ['-c', command!]).status, 0);
      assert.ok((await plan()).ok);
    } finally {
      process.umask(before);
    }
  });

  it('overwrites nothing without --force', async () => {
    const again = await project.envelope(['compose', 'codemod', 'commander']);
    assert.match(again.error!.message, /these files exist already/);
    const forced = await project.envelope(['compose', 'codemod', 'commander', '--force']);
    assert.ok(forced.ok);
  });

  it('writes modules that a strict compiler takes', () => {
    const tsc = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', project.root], {
      encoding: 'utf8',
    });
    assert.equal(tsc.stdout, '');
  });

  for (const library of Object.keys(SHELVES))
    it(`keeps the old surface of a program on ${library}, and adds that for agents`, async () => {
      for (const args of [...OLD_CALLS, ...(library === 'commander' ? MORE_OLD_CALLS : [])])
        assert.deepEqual(
          call(library, 'agent/main.js', args),
          call(library, 'cli.mjs', args),
          args.join(' '),
        );
      assert.deepEqual(call(library, 'agent/main.ts', ['info']), call(library, 'cli.mjs', ['info']));

      const agent = (...args: string[]) => {
        const { stdout, status } = call(library, 'agent/agent.js', args);
        return { status, ...JSON.parse(stdout) };
      };
      const listed = agent(
        'book',
        'list',
        '--tag',
        'x',
        '--tag',
        'y',
        '--sort',
        'year',
        '--no-color',
        '--limit',
        '3',
      );
      assert.deepEqual(
        listed.data?.lines,
        ['x year false 3 shelf.json', 'y year false 3 shelf.json'],
        JSON.stringify(listed),
      );
      assert.deepEqual(agent('book', 'add', 'top', 'One', 'Two words').data?.lines, ['top One|Two words']);
      assert.deepEqual(agent('book', 'tag', 'remove', 'old', '--force').data?.lines, ['removed old true']);
      assert.deepEqual(agent('info').data?.value, { books: 2 });
      assert.deepEqual(agent('book', 'list', '-s', 'year', '-t', 'z').data?.lines, [
        'z year true 10 shelf.json',
      ]);
      const full = agent('book', 'add', 'full');
      assert.deepEqual(
        [full.status, full.error.code, full.error.message, full.error.details.exit],
        [1, 'E_FAILED', 'the shelf is full', 3],
      );
      const shown = agent('book', 'add', 'top', '--dry-run');
      assert.deepEqual(shown.data.would_call.slice(-3), ['book', 'add', 'top']);
      // The person form has the bytes of the old program.
      assert.equal(
        call(library, 'agent/agent.ts', ['book', 'list', '--format', 'text']).stdout,
        call(library, 'cli.mjs', ['book', 'list']).stdout,
      );
      assert.deepEqual(
        JSON.parse(call(library, 'agent/main.ts', ['book', 'list', '--fields', 'lines']).stdout).data.lines
          .length,
        2,
      );

      project.write(
        `${library}/check.ts`,
        `import { checkContract } from '@acor/compose';\nimport { cli } from './agent/commands.ts';\nconsole.log(JSON.stringify(await checkContract(cli)));\n`,
      );
      assert.equal(call(library, 'check.ts', []).stdout, '[]\n');
    });

  it('loads the kit for a call of the new command line only', () => {
    const [index, away] = ['index.js', 'away.js'].map((name) =>
      project.path('node_modules', '@acor', 'compose', 'dist', name),
    ) as [string, string];
    const calls = () => [['info'], ['tools']].map((args) => call('commander', 'agent/main.js', args).status);
    assert.deepEqual(calls(), [0, 0]);
    renameSync(index, away);
    try {
      assert.deepEqual(calls(), [0, 1]);
    } finally {
      renameSync(away, index);
    }
  });

  it('raises the score of the audit', async () => {
    // An audit shows a program the packages of its own folder only.
    for (const name of ['commander', '@acor/compose'])
      cpSync(project.path('node_modules', name), project.path('commander', 'node_modules', name), {
        recursive: true,
      });
    project.write('commander/new.mjs', "#!/usr/bin/env node\nawait import('./agent/agent.js');\n", 0o755);
    const score = async (program: string) =>
      (await project.envelope(['compose', 'audit', program, '--commands', '3'])).data.score.value;
    const [old, raised] = [await score('commander/cli.mjs'), await score('commander/new.mjs')];
    assert.ok(raised > old, `${old} → ${raised}`);
  });

  it('passes standard input on when the caller asks for it, byte for byte', async () => {
    using project = new TestProject();
    const READER = `import { Command } from 'commander';
const program = new Command('reader').version('1.0.0').description('Reads.');
program.command('count').description('Count the bytes').action(async () => { let n = 0; for await (const chunk of process.stdin) n += chunk.length; console.log(n); });
await program.parseAsync();
`;
    project.write('cli.mjs', READER);
    project.write('package.json', '{"name":"reader","type":"module","bin":"./cli.mjs"}');
    install('commander', project.root);
    cpSync(kit, project.path('node_modules', '@acor', 'compose'), { recursive: true });
    // As root: a folder that no other user may enter.
    execFileSync('chmod', ['-R', 'go+rX', project.root]);
    execFileSync('chmod', ['0700', project.root]);
    const written = await project.envelope(['compose', 'codemod', '.']);
    assert.ok(written.ok, JSON.stringify(written.error));
    const count = (...args: string[]) => {
      const { stdout } = spawnSync(NODE, ['agent/agent.ts', 'count', ...args], {
        cwd: project.root,
        env: { PATH: dirname(NODE) },
        input: Buffer.from([0xff, 0, 1]),
      });
      return JSON.parse(stdout.toString()).data.lines;
    };
    assert.deepEqual([count('--stdin'), count()], [['3'], ['0']]);
  });

  it('names the file that has no command line', async () => {
    using project = new TestProject();
    project.write('cli.mjs', 'console.log(1);\n');
    execFileSync('chmod', ['-R', 'go+rX', project.root]);
    const { code, error } = await project.envelope(['compose', 'codemod', 'cli.mjs']);
    assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    assert.match(error.message, /no commands of commander, yargs or oclif were found in .*cli\.mjs/);
  });
});

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    rewriteRelativeImportExtensions: true,
    module: 'nodenext',
    target: 'esnext',
    types: ['node'],
  },
  include: ['*/agent'],
});
