import { existsSync, lstatSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { execProgram } from '../../protocol/names.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import { splitCommand } from '../../util/shell-words.ts';
import { type LoadedConfig, toolsDirsOf } from '../config/load.ts';
import { findProgram, isProgram, rememberingPrograms } from './find-program.ts';
import { LANGUAGES } from './languages/index.ts';
import type { Language, RuntimeContext, ToolCommand } from './languages/language.ts';
import { type SdkPaths, sdkPaths } from './own-files.ts';
import type { ToolEntry } from './tool-entry.ts';

export type { ToolCommand } from './languages/language.ts';

type Env = RuntimeContext['env'];

/** The command that starts a tool. Throws E_RUNTIME_MISSING or E_SPAWN_FAILED with a fix. Starts nothing. */
export async function commandOf(
  tool: ToolEntry,
  config: LoadedConfig,
  env: Env,
  languages: readonly Language[] = LANGUAGES,
): Promise<ToolCommand> {
  if (tool.command !== null) {
    const program = ownProgram(tool, tool.command, env);
    const sdkEnv = tool.language === 'python' ? { PYTHONPATH: sdkPaths().sdkPython } : {};
    return { argv: [program, ...tool.command.slice(1)], runtime: program, env: sdkEnv };
  }
  const here = { env, languages, toolsDirs: realToolsDirs(config) };
  const { language, context } = languageOf(tool, checkedEntry(tool), here);
  return language.command(await language.runtime(context), context);
}

/**
 * The program that runs a tool, and the same errors, for the tools of a list that was read just now: what they share is looked up once, no entry is
 * checked again, and no SDK is looked for.
 */
export function runtimesOf(
  config: LoadedConfig,
  env: Env,
  languages: readonly Language[],
): (tool: ToolEntry) => Promise<string> {
  const here = { env: rememberingPrograms(env), languages, toolsDirs: realToolsDirs(config) };
  return async (tool) => {
    if (tool.command !== null) return ownProgram(tool, tool.command, here.env);
    const { language, context } = languageOf(tool, knownEntry(tool), here);
    return language.runtime(context);
  };
}

function languageOf(
  tool: ToolEntry,
  entry: string,
  { env, languages, toolsDirs }: { env: Env; languages: readonly Language[]; toolsDirs: readonly string[] },
): { language: Language; context: RuntimeContext } {
  const language = languages.find((each) => each.name === tool.language);
  if (language === undefined) throw new Error(`Internal: no language '${tool.language}'`);
  const context = {
    tool: tool.name,
    entry,
    toolDir: tool.dir,
    toolsDir: toolsDirOf(tool, toolsDirs),
    env,
    get sdk() {
      return sdkPaths();
    },
  };
  return { language, context };
}

/** Where a tool starts, and so where relative words of its `command` are looked up; undefined for the workspace of its run. */
export function workingFolderOf({ manifest, startsIn }: ToolEntry, config: LoadedConfig): string | undefined {
  return manifest.cwd === 'project' ? config.root : startsIn;
}

/** Other folders that a tool reads: the SDKs, and the folder that the tools share. */
export function librariesOf(tool: ToolEntry, config: LoadedConfig): string[] {
  return [...sdkFolders(sdkPaths(), tool), ...sharedLibraryOf(tool, config)];
}

/**
 * The SDK folders that tools can import without an install. They are one folder, because each mount costs 0.2 ms. Tools that can run
 * Node also get the files that the TypeScript SDK imports.
 */
function sdkFolders({ root }: SdkPaths, { language, manifest }: ToolEntry): string[] {
  const isShellOrPython = language === 'bash' || language === 'python';
  const isAlone = isShellOrPython && manifest.permissions.commands.length === 0;
  const forNode = isAlone ? [] : ['src/tool', 'dist/lib', 'package.json'];
  return ['sdk', ...forNode].map((path) => join(root, path));
}

/**
 * The folder `_lib/` beside the tools, which each of them may read (seed 000). A link that leads elsewhere is refused.
 */
export function sharedLibraryOf(tool: ToolEntry, config: LoadedConfig): string[] {
  const folder = toolsDirOf(tool, realToolsDirs(config));
  if (folder === null) return [];
  const library = join(folder, '_lib');
  return lstatSync(library, { throwIfNoEntry: false })?.isDirectory() ? [library] : [];
}

/** The program of a manifest's own `command`. */
function ownProgram({ name, dir }: ToolEntry, [program = '']: readonly string[], env: Env): string {
  const isPath = program.includes('/') || isAbsolute(program);
  const found = isPath ? resolve(dir, program) : findProgram(program, env);
  if (found === undefined) {
    if (execProgram(name) !== undefined) throw notFound(program);
    throw new AcorError('E_RUNTIME_MISSING', `tool '${name}' runs '${program}', which is not on the PATH`, {
      hint: `Install ${program}, or write its absolute path in the manifest's command.`,
      details: { runtime: program },
    });
  }
  if (!isProgram(found)) {
    throw new AcorError('E_SPAWN_FAILED', `tool '${name}' runs '${found}', which is not an executable file`, {
      hint: `Check the manifest's command and the mode bits of ${found}`,
    });
  }
  return found;
}

/** What only a shell understands: pipes, redirections, lists, substitutions and variables. */
const NEEDS_SHELL = /[|&;<>`*?()]|\$[\w({]/;

/** For a program of `acor exec`. A whole command line in quotes is a common mistake. */
function notFound(program: string): AcorError {
  const isLine = /\s/.test(program);
  const needsShell = isLine && NEEDS_SHELL.test(program);
  const words = needsShell ? ['sh', '-c', program] : isLine ? splitCommand(program) : undefined;
  return new AcorError('E_RUNTIME_MISSING', `the program '${program}' is not on the PATH`, {
    hint:
      words === undefined
        ? `Install ${program}, or give its path.`
        : needsShell
          ? 'A shell reads pipes, redirections and patterns: give it the command line.'
          : 'Write the program and its arguments as separate words.',
    details: { runtime: program },
    ...(words && {
      next: [
        {
          operation: 'run.exec',
          input: { program: words[0], args: words.slice(1) },
          why: 'Run the program with its arguments.',
        },
      ],
    }),
  });
}

function knownEntry({ name, entry }: ToolEntry): string {
  if (entry === null) throw new Error(`Internal: tool '${name}' has no entry`);
  return entry;
}

/** Checks the entry again, because it may have changed since discovery. */
function checkedEntry(tool: ToolEntry): string {
  const { name, dir } = tool;
  const entry = knownEntry(tool);
  const inside = entryInside(entry, dir);
  if (inside !== undefined) return inside;
  throw new AcorError('E_SPAWN_FAILED', `the entry of tool '${name}' is not a file inside ${dir}: ${entry}`, {
    hint: 'Restore the file, or set a different entry in the manifest.',
  });
}

/** Without those that do not exist: no tool is in one. */
function realToolsDirs(config: LoadedConfig): string[] {
  return toolsDirsOf(config)
    .filter((folder) => existsSync(folder))
    .map((folder) => realPathOf(folder, config.root).path);
}

function toolsDirOf({ dir }: ToolEntry, toolsDirs: readonly string[]): string | null {
  return toolsDirs.find((folder) => isInside(dir, folder)) ?? null;
}

function entryInside(entry: string, dir: string): string | undefined {
  try {
    const { path, stats } = realPathOf(entry, dir);
    return stats?.isFile() && isInside(path, realPathOf(dir, dir).path) ? path : undefined;
  } catch {
    return undefined;
  }
}
