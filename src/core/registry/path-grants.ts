import type { Stats } from 'node:fs';
import { basename, join } from 'node:path';
import type { InputSpec } from '../../protocol/manifest.ts';
import type { WriteMode } from '../../protocol/write-modes.ts';
import { errorCode } from '../../util/error-code.ts';
import { isInside, type RealPath, realPathOf } from '../../util/real-path.ts';
import { tempFolder } from '../../util/system.ts';
import { type LoadedConfig, projectPath } from '../config/load.ts';
import type { ArgumentProblem } from './argument-problem.ts';
import type { MissingPermission } from './missing-permission.ts';

/** A path that a tool may access because the caller named it. */
export interface Grant {
  /** Real and absolute. */
  path: string;
  access: 'read' | 'write';
  input: string;
  /** Of a path that is written: how. In place when absent. */
  mode?: WriteMode;
  /** The layer that the tool gets in place of the path. */
  from?: string;
}

/** An output that the tool writes in the workspace, and ACOR moves to its target when the run completes. */
export interface StagedOutput {
  input: string;
  /** The final place of the output; real and absolute. */
  target: string;
  /** The path that the tool gets. */
  staged: string;
  /** The file at the target when the run was planned. The tool gets a copy of it, which replaces it when the run completes. */
  replaces?: ReplacedFile;
  /** The output stays in the workspace and is not moved. */
  stays?: true;
  /** It stays until it is applied. */
  isReviewed?: true;
  /** A copy of the file that it replaces is kept, so that the change can be undone. */
  keepsReplaced?: true;
}

/** Identifies the content of a file, so that a change by anybody else is noticed. */
export interface ReplacedFile {
  ino: number;
  size: number;
  mtimeMs: number;
}

/** Where path arguments may be, and where outputs are staged. */
export interface GrantRules {
  cwd: string;
  /** Real paths. An argument must be inside one of them. */
  roots: readonly string[];
  /** Real paths that the project's configuration adds to the roots, which no person has trusted. */
  untrustedRoots?: readonly string[];
  /** Paths inside these are never writable. */
  protectedRoots: readonly string[];
  /** Whether the manifest itself grants a real path, so that it need not be inside the roots. */
  isDeclared?: (path: string, access: 'read' | 'write') => boolean;
  /** Collects what is outside of the roots and is asked for. Without it, such a path is refused. */
  missing?: MissingPermission[];
  stagingDir: string;
  /**
   * Set when all outputs stay in the workspace. The outputs in it, as `<input>/<name>`, are staged even if their
   * targets exist.
   */
  stayingOutputs?: readonly string[];
}

/** The result for one path argument: the text that the tool gets, and a grant or a staged output. */
export interface GrantedPath {
  text: string;
  target: string;
  grant?: Grant;
  staged?: StagedOutput;
}

/**
 * Turns a path argument into a grant (contract §5). Symlinks and `..` are resolved first; the result must be inside the
 * roots.
 */
export function grantPath(
  spec: Pick<InputSpec, 'name' | 'access' | 'in_place'>,
  text: string,
  rules: GrantRules,
): GrantedPath | ArgumentProblem {
  const input = spec.name;
  const trouble = troubleOf(input);
  if (text === '') return trouble('E_USAGE', 'path', `the path of '${input}' is empty`, 'Give a path.');

  const real = follow(text, rules.cwd);
  if (typeof real === 'string') {
    const code = real === 'EACCES' ? 'E_PERMISSION' : 'E_USAGE';
    return trouble(
      code,
      'path',
      `'${text}' for '${input}' cannot be resolved (${real})`,
      WHY[real] ?? 'Give another path.',
    );
  }
  const granted = grantReal(spec, text, real, rules);
  const access = 'rule' in granted ? (spec.access ?? 'read') : accessOf(granted);
  if (isInRoots(real.path, rules) || rules.isDeclared?.(real.path, access)) return granted;
  if (!('rule' in granted) && rules.missing !== undefined && !isNeverGranted(real.path)) {
    const isGrant = granted.grant !== undefined;
    rules.missing.push({ kind: 'path', name: real.path, access, input, isGrant });
    return granted;
  }
  return trouble(
    'E_PERMISSION',
    'grant-roots',
    `'${text}' for '${input}' ${real.path === text ? 'is' : `is ${real.path},`} outside the folders that ACOR may grant`,
    howToGrant(real.path, rules),
  );
}

function accessOf({ grant }: GrantedPath): 'read' | 'write' {
  return grant?.access ?? 'write';
}

function isInRoots(path: string, { roots }: GrantRules): boolean {
  return roots.some((root) => isInside(path, root));
}

/** What a path inside the roots, or one that is asked for, is for a tool. */
function grantReal(
  spec: Pick<InputSpec, 'name' | 'access' | 'in_place'>,
  text: string,
  real: RealPath,
  rules: GrantRules,
): GrantedPath | ArgumentProblem {
  const input = spec.name;
  const trouble = troubleOf(input);
  const place = join(input, basename(real.path));
  const stays = rules.stayingOutputs?.includes(place) === true;
  const isNew = !real.stats || stays;
  const access = spec.access ?? (isNew ? 'write' : 'read');
  if (access === 'read') {
    if (real.stats) return { text: real.path, target: real.path, grant: { path: real.path, access, input } };
    return trouble(
      'E_INPUT_NOT_FOUND',
      'exists',
      `'${text}' for '${input}' does not exist`,
      `Check the path; ACOR looked at ${real.path}`,
    );
  }
  const guarded = protectedBy(real.path, rules);
  if (guarded !== undefined) {
    return trouble(
      'E_PERMISSION',
      'protected',
      `'${text}' for '${input}' would let the tool write to ${guarded}, where ACOR keeps its own files`,
      `Use a path that is neither inside that folder nor above it. ${OWN_FILES_STAY}`,
    );
  }
  const system = real.stats && !stays ? systemFolderOf(real.path) : undefined;
  if (system !== undefined && (spec.in_place || !real.stats!.isFile())) {
    return trouble(
      'E_PERMISSION',
      'system-folder',
      `'${text}' for '${input}' is ${real.path}, and ${system} belongs to the system`,
      'Give another folder, or a file, which ACOR puts in place when the run completes.',
    );
  }
  // A folder may be a repository or a database: the tool changes it where it is.
  if (real.stats && !stays && (spec.in_place || !real.stats.isFile()))
    return { text: real.path, target: real.path, grant: { path: real.path, access, input } };
  const staged = join(rules.stagingDir, place);
  const output: StagedOutput = {
    input,
    target: real.path,
    staged,
    ...(real.stats?.isFile() && { replaces: replacedFile(real.stats) }),
    ...(rules.stayingOutputs !== undefined && { stays: true }),
  };
  return { text: staged, target: real.path, staged: output };
}

function troubleOf(input: string) {
  return (code: ArgumentProblem['code'], rule: string, message: string, fix: string): ArgumentProblem => ({
    code,
    input,
    rule,
    message,
    fix,
  });
}

/** Why ACOR's own files stay closed to a tool. */
export const OWN_FILES_STAY =
  'security.grant_roots does not open it, because with these files a tool could approve itself.';

/** File systems that expose the kernel and other processes. */
export const NEVER_GRANTED = ['/proc', '/sys', '/dev'];

function isNeverGranted(path: string): boolean {
  return path === '/' || NEVER_GRANTED.some((each) => isInside(path, each));
}

/** What every program of the machine relies on. As root ACOR would give it to the user of the run. */
const SYSTEM_FOLDERS = [
  ...['/etc', '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/boot', '/run'],
  ...['/nix/store', '/gnu/store', '/var/run', '/var/lib/dpkg', '/var/spool/cron'],
];
/** A folder in them may be granted. */
const OUTER_FOLDERS = ['/', '/home', '/opt', '/var', '/var/lib', '/var/spool'];

/** The folder of the system that a real path is in, or that is too wide to be granted for writing. */
export function systemFolderOf(path: string): string | undefined {
  return OUTER_FOLDERS.find((each) => path === each) ?? SYSTEM_FOLDERS.find((each) => isInside(path, each));
}

/** What to do about a path outside of the roots. */
export function howToGrant(
  path: string,
  { roots, untrustedRoots = [] }: Pick<GrantRules, 'roots' | 'untrustedRoots'>,
): string {
  const inside = `Use a path inside ${roots.join(', ')}`;
  return untrustedRoots.some((root) => isInside(path, root))
    ? `${inside}. The project's configuration allows this path, but no person has trusted it: see the warning.`
    : `${inside}, or add its folder to security.grant_roots.`;
}

export function replacedFile({ ino, size, mtimeMs }: Stats): ReplacedFile {
  return { ino, size, mtimeMs };
}

/** Resolves an argument of a tool without declared inputs, when it is the path of a grantable file. */
export function grantExisting(text: string, input: string, rules: GrantRules): Grant | undefined {
  if (text === '' || text.includes('\0')) return undefined;
  const real = follow(text, rules.cwd);
  if (typeof real === 'string' || !real.stats) return undefined;
  const grant: Grant = { path: real.path, access: 'read', input };
  if (isInRoots(real.path, rules) || rules.isDeclared?.(real.path, 'read')) return grant;
  if (rules.missing === undefined || !isMeant(text, real, rules)) return undefined;
  rules.missing.push({ kind: 'path', name: real.path, access: 'read', input, isGrant: true });
  return grant;
}

/** Whether a word that names something outside of the roots is probably a path that the program is to read. */
function isMeant(text: string, { path, stats }: RealPath, rules: GrantRules): boolean {
  const isKnown = stats?.isFile() || stats?.isDirectory();
  return (
    /^(\/|\.\.\/)/.test(text) &&
    isKnown === true &&
    !isNeverGranted(path) &&
    !PROGRAM_FOLDERS.some((each) => isInside(path, each)) &&
    protectedBy(path, rules) === undefined
  );
}

/** The programs of the system, which every tool may read. */
const PROGRAM_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/gnu/store',
];

const WHY: Readonly<Record<string, string>> = {
  ENOTDIR: 'A part of it is a file, not a folder.',
  ELOOP: 'Its symlinks lead in a circle.',
  EACCES: 'Make the folder readable.',
  ENAMETOOLONG: 'Give a shorter path.',
};

function follow(text: string, cwd: string): RealPath | string {
  try {
    return realPathOf(text, cwd);
  } catch (error) {
    return errorCode(error) ?? 'EINVAL';
  }
}

function protectedBy(path: string, { protectedRoots, cwd }: GrantRules): string | undefined {
  return protectedRoots.find((each) => {
    const real = follow(each, cwd);
    const root = typeof real === 'string' ? each : real.path;
    return isInside(path, root) || isInside(root, path);
  });
}

/**
 * The folders that may contain path arguments: the project, the working directory, the system's temporary folder, and
 * the configured roots.
 */
export function grantRoots(config: LoadedConfig, cwd: string): string[] {
  const extra = config.config.security.grant_roots.map((root) => projectPath(config, root));
  return [...new Set([config.root, cwd, tempFolder(), ...extra].map((root) => realPathOf(root, cwd).path))];
}

/** The folders that `security.grant_roots` of the project would add, if a person trusted it. */
export function untrustedRoots(config: LoadedConfig, cwd: string): string[] {
  const { isTrusted, widenings } = config.trust;
  const asked = widenings.find(({ key }) => key === 'security.grant_roots')?.asked;
  if (isTrusted || !Array.isArray(asked)) return [];
  return asked.map((root) => realPathOf(projectPath(config, String(root)), cwd).path);
}
