// Compares the kit with other libraries for command lines: the same program with each, installed from npm, started in turn and tried.
// Prints the table of docs/compose-kit.md; with --write it goes there:
//   bun scripts/compare-kits.ts [--write] [--rounds N]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { stageCompose } from './stage-compose.ts';

const root = dirname(import.meta.dirname);
const NODE = join(root, 'node_modules', '.bin', 'node');
const PLACE = ['<!-- compared: written by scripts/compare-kits.ts -->', '<!-- /compared -->'] as const;

/** One library: what npm installs, and the program `box` with it. Its command `items list` prints a stray line, too. */
interface Kit {
  name: string;
  install: string[];
  files: Readonly<Record<string, string>>;
  /** The words behind `items list` that ask for JSON, where it is not the default. */
  json: string[];
}

const KITS: readonly Kit[] = [
  {
    name: '@acor/compose',
    install: [],
    json: [],
    files: {
      'box.mjs': `import { defineCli, defineOperation, serve, z } from '@acor/compose';
const list = defineOperation({ name: 'items.list', summary: 'List the items.', effect: 'reads', idempotent: true, rateLimit: null,
  input: z.object({ owner: z.string().default('me').meta({ env: 'BOX_OWNER' }).describe('Whose items.') }),
  output: z.object({ items: z.array(z.object({ id: z.string(), size: z.int() })) }), example: 'box items list --owner Ada',
  async run({ owner }) { console.log('stray'); return { kind: 'data', data: { items: [{ id: owner + '-1', size: 7 }, { id: owner + '-2', size: 7 }] } }; } });
await serve(defineCli({ name: 'box', version: '1.0.0', summary: 'Keeps items.', commands: { 'items list': list } }));
`,
    },
  },
  {
    name: 'incur',
    install: ['incur@0.3.15'],
    json: ['--json'],
    files: {
      'box.mjs': `import { Cli, z } from 'incur';
const items = Cli.create('items', { description: 'Items.' }).command('list', { description: 'List the items.',
  options: z.object({ owner: z.string().default('me').describe('Whose items.') }), env: z.object({ BOX_OWNER: z.string().optional() }),
  output: z.object({ items: z.array(z.object({ id: z.string(), size: z.int() })) }),
  run({ options, env }) { console.log('stray'); const owner = env.BOX_OWNER ?? options.owner; return { items: [{ id: owner + '-1', size: 7 }, { id: owner + '-2', size: 7 }] }; } });
Cli.create('box', { version: '1.0.0', description: 'Keeps items.' }).command(items).serve();
`,
    },
  },
  {
    name: 'oclif',
    install: ['@oclif/core@4.14.0'],
    json: ['--json'],
    files: {
      'package.json':
        '{"name":"box","version":"1.0.0","type":"module","oclif":{"bin":"box","commands":"./commands","topicSeparator":" "}}',
      'box.mjs': "import { execute } from '@oclif/core';\nawait execute({ dir: import.meta.url });\n",
      'commands/items/list.js': `import { Command, Flags } from '@oclif/core';
export default class List extends Command {
  static enableJsonFlag = true;
  static description = 'List the items.';
  static flags = { owner: Flags.string({ default: 'me', env: 'BOX_OWNER', description: 'Whose items.' }) };
  async run() { const { flags } = await this.parse(List); console.log('stray'); return { items: [{ id: flags.owner + '-1', size: 7 }, { id: flags.owner + '-2', size: 7 }] }; }
}
`,
    },
  },
  {
    name: 'commander',
    install: ['commander@14.0.3'],
    json: [],
    files: {
      'box.mjs': `import { Command, Option } from 'commander';
const box = new Command('box').version('1.0.0').description('Keeps items.');
box.command('items').description('Items.').command('list').description('List the items.')
  .addOption(new Option('--owner <name>', 'Whose items.').default('me').env('BOX_OWNER'))
  .action(({ owner }) => { console.log('stray'); console.log(JSON.stringify({ items: [{ id: owner + '-1', size: 7 }, { id: owner + '-2', size: 7 }] })); });
await box.parseAsync();
`,
    },
  },
  {
    name: 'citty',
    install: ['citty@0.2.2'],
    json: [],
    files: {
      'box.mjs': `import { defineCommand, runMain } from 'citty';
const list = defineCommand({ meta: { name: 'list', description: 'List the items.' }, args: { owner: { type: 'string', default: 'me', description: 'Whose items.' } },
  run({ args }) { console.log('stray'); console.log(JSON.stringify({ items: [{ id: args.owner + '-1', size: 7 }, { id: args.owner + '-2', size: 7 }] })); } });
const items = defineCommand({ meta: { name: 'items', description: 'Items.' }, subCommands: { list } });
runMain(defineCommand({ meta: { name: 'box', version: '1.0.0', description: 'Keeps items.' }, subCommands: { items } }));
`,
    },
  },
  {
    name: 'trpc-cli',
    install: ['trpc-cli@0.16.0', '@trpc/server@11', 'zod@4'],
    json: [],
    files: {
      'box.mjs': `import { initTRPC } from '@trpc/server';
import { createCli } from 'trpc-cli';
import { z } from 'zod';
const t = initTRPC.meta().create();
const list = t.procedure.meta({ description: 'List the items.' }).input(z.object({ owner: z.string().default('me').describe('Whose items.') }))
  .query(({ input }) => { console.log('stray'); return { items: [{ id: input.owner + '-1', size: 7 }, { id: input.owner + '-2', size: 7 }] }; });
createCli({ router: t.router({ items: t.router({ list }) }), name: 'box', version: '1.0.0' }).run();
`,
    },
  },
];

interface Call {
  stdout: string;
  stderr: string;
  status: number | null;
}

/** One feature: whether the program with a library has it, without further code. */
type Feature = readonly [name: string, has: (call: Caller, kit: Kit) => boolean];

type Caller = (
  args: readonly string[],
  options?: { env?: Record<string, string>; input?: string; staysOpenS?: number },
) => Call;

const FEATURES: readonly Feature[] = [
  ['JSON without a flag', (call) => holdsItems(call(['items', 'list']).stdout)],
  [
    'JSON, also with a stray `console.log`',
    (call, { json }) => parsed(call(['items', 'list', ...json]).stdout) !== undefined,
  ],
  ['an error is JSON with a code', (call, { json }) => hasCode(call(['items', 'list', '--nope', ...json]))],
  ['a wrong call does not exit with 0', (call) => call(['items', 'list', '--nope']).status !== 0],
  [
    'a typo is answered with the nearest word',
    (call) => /did you mean[\s\S]*list/i.test(bothOf(call(['items', 'lst']))),
  ],
  [
    'a catalog of all commands as JSON',
    (call) =>
      [['tools'], ['--llms', '--format', 'json'], ['--llms-full', '--json']].some((args) =>
        namesList(call(args)),
      ),
  ],
  ['`health` with a status', (call) => /"status":"ready"/.test(call(['health']).stdout)],
  [
    'choose fields of the answer',
    (call, { json }) =>
      [
        ['--fields', 'id'],
        ['--filter-output', 'items[0,2].id'],
      ].some((more) => /Ada-1(?![\s\S]*size)/.test(chosen(call, [...more, ...json]))),
  ],
  [
    'a page of a list',
    (call, { json }) => ['--limit'].some((flag) => isPage(call(['items', 'list', flag, '1', ...json]))),
  ],
  [
    'a variable in place of a flag',
    (call, { json }) =>
      call(['items', 'list', ...json], { env: { BOX_OWNER: 'Eve' } }).stdout.includes('Eve-1'),
  ],
  [
    'all inputs as one JSON object',
    (call, { json }) =>
      call(['items', 'list', '--input-json', '{"owner":"Eve"}', ...json]).stdout.includes('Eve-1'),
  ],
  [
    'shell completion',
    (call) =>
      [
        ['complete', 'bash'],
        ['completions', 'bash'],
      ].some((args) => /complete /.test(call(args).stdout)),
  ],
  [
    'an MCP server',
    (call) =>
      [['--mcp'], ['mcp']].some((args) =>
        /"serverInfo"/.test(call(args, { input: INITIALIZE, staysOpenS: 3 }).stdout),
      ),
  ],
];

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'compare', version: '1' } },
})}\n`;

/** A server may end with its input, before it has answered. */
const PIPED = 'set -o pipefail; { cat; sleep "$1"; } | "${@:2}"';

const { values } = parseArgs({
  options: { write: { type: 'boolean' }, rounds: { type: 'string', default: '15' } },
});
const folder = mkdtempSync(join(tmpdir(), 'acor-kits-'));
try {
  const places: ({ kit: Kit } & Installed)[] = [];
  for (const kit of KITS) places.push({ kit, ...(await install(kit)) });
  const times = new Map(places.map(({ kit }) => [kit, [] as number[]]));
  // In turn, so that a busy moment of the machine meets all of them.
  for (let round = 0; round < Number(values.rounds); round++)
    for (const { kit, place } of places)
      times.get(kit)!.push(processorMs(place, ['items', 'list', ...kit.json]));
  const own = median(times.get(KITS[0]!)!);
  const rows = [
    ['start, processor time', ...places.map(({ kit }) => `${(median(times.get(kit)!) / own).toFixed(1)} ×`)],
    ['installed', ...places.map(({ bytes }) => `${(bytes / 1e6).toFixed(1)} MB`)],
    ['packages', ...places.map(({ packages }) => String(packages))],
    ...FEATURES.map(([name, has]) => [
      name,
      ...places.map(({ kit, place }) => (has(caller(place), kit) ? 'yes' : '–')),
    ]),
  ];
  const head = [
    '',
    ...KITS.map(({ name, install: [what] }) =>
      what === undefined ? name : `${name} ${what.split('@').at(-1)}`,
    ),
  ];
  const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  console.log(table);
  console.error(
    `the kit: ${own.toFixed(0)} ms of processor time, Node ${execFileSync(NODE, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()}`,
  );
  if (values.write === true) writeTable(table);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Installed {
  place: string;
  bytes: number;
  packages: number;
}

async function install({ name, install: packages, files }: Kit): Promise<Installed> {
  const place = join(folder, name.replace('/', '-'));
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{"private":true,"type":"module"}');
  const wanted = [...packages];
  if (packages.length === 0) {
    await stageCompose(join(folder, 'kit'));
    const packed = execFileSync(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, join(folder, 'kit')],
      { encoding: 'utf8' },
    );
    wanted.push(join(folder, packed.trim().split('\n').at(-1)!));
  }
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...wanted], {
    cwd: place,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  const lock = JSON.parse(readFileSync(join(place, 'package-lock.json'), 'utf8')) as { packages: object };
  return {
    place,
    bytes: sizeOf(join(place, 'node_modules')),
    packages: Object.keys(lock.packages).length - 1,
  };
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
}

function caller(place: string): Caller {
  return (args, { env = {}, input = '', staysOpenS = 0 } = {}) => {
    const { PATH = '', HOME = '/' } = process.env;
    const { stdout, stderr, status } = spawnSync(
      'bash',
      ['-c', PIPED, 'bash', String(staysOpenS), NODE, 'box.mjs', ...args],
      {
        cwd: place,
        env: { PATH, HOME, ...env },
        input,
        encoding: 'utf8',
        timeout: 30_000,
      },
    );
    return { stdout, stderr, status };
  };
}

/** User and system time of one start, from the shell that waited for it. */
function processorMs(place: string, args: readonly string[]): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&1';
  const { stderr } = spawnSync('bash', ['-c', script, 'bash', NODE, 'box.mjs', ...args], {
    cwd: place,
    encoding: 'utf8',
  });
  const [user = 0, system = 0] = stderr.trim().split(/\s+/).slice(-2).map(Number);
  return (user + system) * 1000;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The items as JSON, with or without the stray line. */
function holdsItems(stdout: string): boolean {
  const items = stdout.replace('stray\n', '');
  return JSON.stringify(parsed(items))?.includes('"me-1"') ?? false;
}

function hasCode({ stdout }: Call): boolean {
  return /"code":"\w+"/.test(JSON.stringify(parsed(stdout)) ?? '');
}

function bothOf({ stdout, stderr }: Call): string {
  return stdout + stderr;
}

function namesList({ stdout, status }: Call): boolean {
  return status === 0 && /"(?:name|command)":"[^"]*items[. ]list/.test(JSON.stringify(parsed(stdout)) ?? '');
}

function chosen(call: Caller, more: readonly string[]): string {
  const { stdout, status } = call(['items', 'list', '--owner', 'Ada', ...more]);
  return status === 0 ? stdout : '';
}

function isPage({ stdout, status }: Call): boolean {
  return status === 0 && stdout.includes('me-1') && !stdout.includes('me-2');
}

function writeTable(table: string): void {
  const file = join(root, 'docs', 'compose-kit.md');
  const text = readFileSync(file, 'utf8');
  const [start, end] = [text.indexOf(PLACE[0]), text.indexOf(PLACE[1])];
  if (start < 0 || end < start)
    throw new Error(`docs/compose-kit.md has no place for the table: ${PLACE.join(' ')}`);
  writeFileSync(file, `${text.slice(0, start)}${PLACE[0]}\n\n${table}\n\n${text.slice(end)}`);
}
