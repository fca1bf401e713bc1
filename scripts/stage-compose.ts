// Writes the package `@acor/compose` as a folder, ready for `npm pack`:
//   bun scripts/stage-compose.ts FOLDER
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { settleModes, writeManifest } from './stage-package.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const root = dirname(import.meta.dirname);
const ENTRIES = ['index', 'beside'];
const SCHEMAS = ['audit', 'catalog', 'envelope', 'errors', 'health'];
/** Their code is in the bundle. */
const BUNDLED = ['zod', '@toon-format/toon'];

/** Writes the kit alone: bundled JavaScript, types, the schemas of the contract, and its part of the documentation. */
export async function stageCompose(folder: string): Promise<void> {
  const { version, license, repository, engines, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  mkdirSync(join(folder, 'schemas'), { recursive: true });
  await bundle(join(folder, 'dist'));
  execFileSync(
    process.execPath,
    [
      ...['--no-env-file', 'scripts/write-types.ts', join(folder, 'types')],
      ...ENTRIES.map((name) => `compose/${name}`),
    ],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  for (const name of SCHEMAS) {
    const file = join('schemas', `${name}.schema.json`);
    // Programs read it: without indentation the package is smaller by a kilobyte.
    writeFileSync(join(folder, file), JSON.stringify(JSON.parse(readFileSync(join(root, file), 'utf8'))));
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), thirdPartyLicenses(root, BUNDLED));
  writeFileSync(join(folder, 'README.md'), readme());
  writeManifest(folder, {
    name: '@acor/compose',
    version,
    description:
      'Command lines for AI agents: declare each command once, get envelope, catalog, health, help and completion.',
    license,
    ...(repository && { repository }),
    type: 'module',
    engines,
    exports: {
      '.': { types: './types/compose/index.d.ts', default: './dist/index.js' },
      './beside': { types: './types/compose/beside.d.ts', default: './dist/beside.js' },
      './schemas/*': './schemas/*',
    },
    // Of zod only the types come from the package: its code is in the bundle, where it loads in a third of the time.
    dependencies: { zod: `^${dependencies.zod}` },
  });
  settleModes(folder);
}

async function bundle(outdir: string): Promise<void> {
  const { success, logs } = await Bun.build({
    entrypoints: ENTRIES.map((name) => join(root, 'src', 'compose', `${name}.ts`)),
    target: 'node',
    format: 'esm',
    splitting: true,
    minify: true,
    outdir,
    naming: { entry: '[name].[ext]', chunk: 'chunks/[name]-[hash].[ext]' },
    plugins: [
      {
        name: 'one-language',
        setup(build) {
          // The messages of zod in fifty languages are half of its code.
          build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
            contents: "export { default as en } from './en.js';",
            loader: 'js',
          }));
        },
      },
    ],
  });
  if (!success) throw new AggregateError(logs, 'the kit was not bundled');
}

/** The part of the documentation that is about the kit. */
function readme(): string {
  const text = readFileSync(join(root, 'docs', 'compose-kit.md'), 'utf8');
  return (
    text
      .replaceAll(/(?<!@)acor\/compose/g, '@acor/compose')
      .replaceAll('acor/schemas', '@acor/compose/schemas')
      // Of the pages around it only this one is in the package.
      .replaceAll(/\[([^\]]+)\]\((?!https:)[^)]+\)/g, '$1')
  );
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: stage-compose.ts FOLDER');
  await stageCompose(folder);
}
