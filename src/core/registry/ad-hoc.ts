import { statSync } from 'node:fs';
import { basename, extname, isAbsolute, join, resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import { leastLevel } from '../../protocol/manifest-permissions.ts';
import { execProgram } from '../../protocol/names.ts';
import { validateTool } from '../../protocol/next-steps.ts';
import { givenPathOf, isInside } from '../../util/real-path.ts';
import { userFolders } from '../config/find.ts';
import { type LoadedConfig, runsDirOf } from '../config/load.ts';
import { problemText } from '../config/problem.ts';
import { stemOf } from './candidate.ts';
import { findProgram } from './find-program.ts';
import type { Language } from './languages/language.ts';
import type { MissingPermission } from './missing-permission.ts';
import { grantRoots, howToGrant, OWN_FILES_STAY, untrustedRoots } from './path-grants.ts';
import { readTool } from './read-tool.ts';
import type { ToolEntry } from './tool-entry.ts';
import { WatchedFiles } from './watched-files.ts';

/** What `acor exec --read` takes for the caller's standard input. */
export const STDIN = '-';

/** A call of a file or program outside of the tools folders: its arguments, and where the caller is. */
export interface AdHocCall {
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** What the caller of `acor exec` grants beyond an empty workspace. */
interface Granted {
  read: string[];
  write: string[];
  net: string[];
  cmd: string[];
  /** How many of the arguments are grants. */
  words: number;
}

/** A file or a program as a tool (contract §7). Throws E_TOOL_NOT_FOUND, E_MANIFEST_INVALID, E_RUNTIME_MISSING, E_PERMISSION. */
export async function adHocTool(
  name: string,
  { config, languages }: { config: LoadedConfig; languages: readonly Language[] },
  call: AdHocCall = { args: [], cwd: config.root, env: {} },
): Promise<ToolEntry> {
  const program = execProgram(name);
  const isFile = (program ?? name).includes('/');
  const tool = isFile ? await fileTool(program ?? name, languages) : programTool(program!, call);
  if (program === undefined) return refusePrivileged({ ...tool, name });
  const granted = readGrants(call.args);
  const { permissions } = tool.manifest;
  const words = call.args.slice(granted.words);
  const outputs = granted.write.filter(isOutput);
  const inPlace = granted.write.filter((text) => !outputs.includes(text));
  const missing: MissingPermission[] = [];
  const paths = {
    read: granted.read.filter((text) => text !== STDIN).map((text) => checked(text, 'read')),
    write: inPlace.map(checkedToWrite),
  };
  const asked = {
    filesystem: {
      read: [...permissions.filesystem.read, ...paths.read],
      write: [...permissions.filesystem.write, ...paths.write],
    },
    network: { ...permissions.network, egress_allow: [...permissions.network.egress_allow, ...granted.net] },
    commands: [...permissions.commands, ...granted.cmd],
  };
  // The current folder as an argument: `.` is also a word of many programs, as in `jq .`, and stays one.
  const isHere =
    words.includes('.') ||
    [...paths.read, ...paths.write].some((path) => isInside(call.cwd, path) || isInside(path, call.cwd));
  return refusePrivileged({
    ...tool,
    name,
    ownWords: granted.words,
    ...(permissions.commands.length === 0 && granted.cmd.length > 0 && { addsCommands: true as const }),
    ...(granted.read.includes(STDIN) && { readsStdin: true as const }),
    ...(isHere && { startsIn: call.cwd }),
    ...(missing.length > 0 && { missing }),
    ...(outputs.length > 0 && { outputs: outputs.map((text) => resolve(call.cwd, text)) }),
    // Without a manifest, the output is the program's own and not the protocol.
    ...(!tool.hasHeader && { adapter: 'plain' }),
    manifest: {
      ...tool.manifest,
      ...(!tool.hasHeader && { adapter: 'plain' as const }),
      permissions: { ...asked, level: leastLevel(asked) },
    },
  });

  /** Whether `--write` names a file that ACOR can stage: an argument has its path, which becomes that of the staged file. */
  function isOutput(text: string): boolean {
    const path = resolve(call.cwd, text);
    const isNamed = words.some((word) => resolve(call.cwd, pathIn(word)) === path);
    return isNamed && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? true);
  }

  function checkedToWrite(text: string): string {
    const path = checked(text, 'write');
    const own = [runsDirOf(config), join(config.root, '.acor'), ...userFolders(call.env)];
    const held = own.find((each) => isInside(each, path));
    if (held === undefined) return path;
    throw new AcorError('E_PERMISSION', `'${text}' holds ${held}, where ACOR keeps its own files`, {
      hint: `Name the files and folders in it that the program writes, one --write for each. ${OWN_FILES_STAY}`,
    });
  }

  function checked(text: string, access: 'read' | 'write'): string {
    if (text === '')
      throw new AcorError('E_USAGE', `--${access} is empty`, {
        hint: 'Name a file or a folder; . is the current folder.',
      });
    const { path, stats } = givenPathOf(text, call.cwd);
    const roots = grantRoots(config, call.cwd);
    // In the permissions of a tool it would be a pattern, and grant more than this path.
    if (path.includes('*'))
      throw new AcorError(
        'E_USAGE',
        `'${text}' for --${access} has a *, which permissions read as a pattern`,
        {
          hint: 'Rename it, name its folder, or give it to the program as an argument without the flag.',
        },
      );
    if (stats === undefined)
      throw new AcorError('E_INPUT_NOT_FOUND', `'${text}' does not exist`, {
        hint: 'Create it first. A file that the program makes may be new where one of the arguments is its path.',
      });
    if (roots.some((root) => isInside(path, root))) return path;
    if (config.config.security.on_denied === 'ask') {
      missing.push({ kind: 'path', name: path, access, input: `--${access}`, isGrant: true });
      return path;
    }
    throw new AcorError('E_PERMISSION', `'${text}' is outside the folders that ACOR may grant`, {
      hint: howToGrant(path, { roots, untrustedRoots: untrustedRoots(config, call.cwd) }),
    });
  }
}

async function fileTool(path: string, languages: readonly Language[]): Promise<ToolEntry> {
  const real = givenPathOf(path, '/');
  if (!real.stats?.isFile()) {
    const what = real.stats === undefined ? `there is no file ${path}` : `${path} is not a file`;
    throw new AcorError('E_TOOL_NOT_FOUND', what, {
      hint: 'Check the path. A tool of the project is run by its name.',
    });
  }
  const tool = await scriptTool(real.path, languages);
  if (tool === null) {
    throw new AcorError('E_SPAWN_FAILED', `${path} is not executable, and its language is unknown`, {
      hint: `Set its mode bit: chmod +x '${path}'`,
      next: [{ command: `chmod +x '${path}'`, why: 'Make the file executable.' }],
    });
  }
  const [first, ...others] = tool.problems;
  if (first !== undefined) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    throw new AcorError('E_MANIFEST_INVALID', `${path} cannot be used: ${problemText(first)}${more}`, {
      hint: first.fix,
      details: { problems: tool.problems },
      next: [validateTool(path)],
    });
  }
  // The files beside it are no part of it.
  return { ...tool, dir: real.path };
}

/** A script with the manifest in its header, if it has one; null when nothing can start it. Its name need not be that of a tool. */
export async function scriptTool(path: string, languages: readonly Language[]): Promise<ToolEntry | null> {
  const language = languages.find(({ extensions }) => extensions.includes(extname(path).toLowerCase()));
  const candidate = { path, name: stemOf(basename(path)), kind: 'file' as const, root: path };
  const tool = await readTool(
    { ...candidate, registryFolders: [], languages, ...(language && { language: language.name }) },
    new WatchedFiles(),
  );
  return tool && { ...tool, problems: tool.problems.filter(({ rule }) => rule !== 'tool-name') };
}

function programTool(program: string, { env }: AdHocCall): ToolEntry {
  const manifest = defaultManifest(program);
  const found = findProgram(program, env);
  return {
    name: program,
    dir: found ?? '/usr',
    entry: null,
    command: [found ?? program],
    language: 'executable',
    adapter: manifest.adapter,
    manifest,
    manifestPath: null,
    problems: [],
  };
}

/** Reads `--read PATH … --` at the beginning of the arguments: `acor exec` records its grants there, so that a run can be repeated. */
function readGrants(args: readonly string[]): Granted {
  const granted: Granted = { read: [], write: [], net: [], cmd: [], words: 0 };
  let at = 0;
  for (; args[at] !== '--' && at < args.length; at += 2) {
    const kind = /^--(read|write|net|cmd)$/.exec(args[at]!)?.[1] as 'read' | undefined;
    const value = args[at + 1];
    if (kind === undefined || value === undefined) return { ...granted, words: at };
    granted[kind].push(value);
  }
  return { ...granted, words: Math.min(at + 1, args.length) };
}

/** The value of `--flag=value`, and any other word as it is. */
export function pathIn(word: string): string {
  return /^-[^=]*=(.*)$/s.exec(word)?.[1] ?? word;
}

/** An approval is bound to a tool of the project, and a person gives it by the tool's name. */
function refusePrivileged(tool: ToolEntry): ToolEntry {
  if (tool.manifest.permissions.level !== 'privileged') return tool;
  throw new AcorError(
    'E_POLICY_DENIED',
    `${tool.name} requests everything, which only a tool of the project can get`,
    {
      hint: 'Name single paths, hosts and programs. Or put it into tools/, so that a person can approve it.',
    },
  );
}

/** The name by which a file is run: its absolute path. */
export function fileName(name: string, cwd: string): string {
  return isAbsolute(name) ? name : resolve(cwd, name);
}
