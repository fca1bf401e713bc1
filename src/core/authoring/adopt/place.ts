import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { isInside } from '../../../util/real-path.ts';
import { userFolder, userFolders } from '../../config/find.ts';
import { type LoadedConfig, runsDirOf } from '../../config/load.ts';
import type { Runtime } from '../../process/runtime.ts';
import { findProgram, isProgram } from '../../registry/find-program.ts';
import { chooseBackend } from '../../sandbox/choose.ts';
import type { HelpPlace } from './help-place.ts';
import type { ScriptToAdopt } from './script.ts';

const DEADLINE_MS = 10_000;

/** The caller and the project. */
export interface Surroundings {
  /** Set when the program is a script that becomes a tool where it is. */
  script: ScriptToAdopt | null;
  config: LoadedConfig;
  runtime: Runtime;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * A program as its manifest names it, the environment to run it for its help, and the paths that every run must read.
 */
export interface AdoptPlace {
  place: HelpPlace;
  /** The `entry` of a manifest in this folder. */
  programFor(folder: string): string;
  reads: string[];
}

/**
 * Finds a program, and the sandbox in which it is asked for help. Throws E_RUNTIME_MISSING or E_SANDBOX_UNAVAILABLE.
 */
export async function placeOf(
  program: string,
  { script, config, runtime, cwd, env }: Surroundings,
): Promise<AdoptPlace> {
  const isPath = program.includes('/');
  const found = script?.path ?? (isPath ? resolve(cwd, program) : findProgram(program, env));
  if (found === undefined || (script === null && !isProgram(found))) throw notThere(program, isPath);
  const folders = script === null ? packagesOf(found) : [script.dir];
  const runsDir = runsDirOf(config);
  const hidden = [runsDir, join(config.root, '.acor'), ...userFolders(env)].filter((path) =>
    existsSync(path),
  );
  const sandbox = await chooseBackend(config.config.security, userFolder('XDG_CACHE_HOME', '.cache', env));
  const inProject = isInside(found, config.root);
  return {
    place: {
      runtime,
      sandbox,
      program: found,
      folders,
      ...(script !== null && { started: script }),
      path: env['PATH'] ?? '',
      hidden,
      deadlineMs: DEADLINE_MS,
    },
    programFor: (folder) => (!isPath ? program : inProject ? relativeTo(folder, found) : found),
    reads: folders.map((path) =>
      isInside(path, realpathSync(config.root))
        ? `\${PROJECT}/${relative(realpathSync(config.root), path)}`
        : path,
    ),
  };
}

/** Node programs load packages from the folders beside their own. */
function packagesOf(program: string): string[] {
  const parts = realpathSync(program).split(sep);
  const at = parts.indexOf('node_modules');
  const folder = parts.slice(0, at + 1).join(sep);
  return at < 0 || folder.startsWith('/usr/') ? [] : [folder];
}

function relativeTo(folder: string, path: string): string {
  const found = relative(folder, path);
  return found.includes('/') || isAbsolute(found) ? found : `./${found}`;
}

function notThere(program: string, isPath: boolean): AcorError {
  return new AcorError(
    'E_RUNTIME_MISSING',
    isPath ? `'${program}' is not a file that may be executed` : `'${program}' is not on the PATH`,
    {
      hint: isPath ? 'Check the path, and the mode bits of the file.' : 'Install it, or give its path.',
      details: { runtime: program },
    },
  );
}
