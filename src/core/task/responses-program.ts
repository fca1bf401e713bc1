import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { runName } from '../../protocol/run.ts';
import type { LoadedConfig } from '../config/load.ts';
import { typescript } from '../registry/languages/typescript.ts';
import { installFolder, sdkPaths } from '../registry/own-files.ts';

/**
 * The command of the executor `responses`: ACOR's own program (`src/core/task/responses`) and the project's `openai`
 * package.
 */
export async function responsesProgram(
  config: LoadedConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ words: [string, ...string[]]; dir: string; reads: string[] }> {
  const sdk = sdkPaths();
  // A checkout has the sources, a package and a compiled program the bundle.
  const sources = join(sdk.root, 'src');
  const isCheckout = existsSync(sources);
  const dir = isCheckout ? sources : join(sdk.root, 'dist', 'lib');
  const entry = join(dir, 'core', 'task', 'responses', isCheckout ? 'main.ts' : 'main.js');
  const context = { tool: runName('task', 'responses'), entry, toolDir: dir, toolsDir: null, env, sdk };
  const runtime = await typescript.runtime(context);
  const [program, ...words] = (await typescript.command(runtime, context)).argv;
  const openai = openaiOf(config.root, installFolder());
  // The sandbox mounts the target of a link, not the link.
  return { words: [realpathSync(program!), ...words, openai.entry], dir, reads: [openai.folder] };
}

/** The package from the project, else the one installed beside ACOR. */
function openaiOf(...places: string[]): { entry: string; folder: string } {
  for (const place of places) {
    const entry = resolved(place);
    if (entry === undefined) continue;
    let folder = dirname(entry);
    while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
    return { entry, folder };
  }
  throw new AcorError(
    'E_RUNTIME_MISSING',
    "the executor 'responses' needs the package openai, which is not installed",
    {
      hint: 'Install it in the project: npm install openai@7',
      next: [{ command: 'npm install openai@7', why: 'Install the package.' }],
      details: { runtime: 'openai' },
    },
  );
}

function resolved(place: string): string | undefined {
  try {
    return createRequire(join(place, 'package.json')).resolve('openai');
  } catch {
    return undefined;
  }
}
