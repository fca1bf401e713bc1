import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, normalize } from 'node:path';
import { errorInfo } from '../../protocol/error-codes.ts';
import { execProgram, hasMeaning, isAdHoc } from '../../protocol/names.ts';
import { isInside } from '../../util/real-path.ts';
import {
  type Denial,
  explainDenial,
  outputRemedy,
  type Remedy,
  remedySentence,
} from '../policy/explain-denial.ts';
import { type SaidDenial, saidDenials } from '../policy/said-denials.ts';
import type { RunLog, RunWriter } from '../ports/run-store.ts';
import { isProgram } from '../registry/find-program.ts';
import { inputsOf } from '../registry/input-schema.ts';
import { placeOf } from '../registry/manifest-place.ts';
import { NEVER_GRANTED, systemFolderOf } from '../registry/path-grants.ts';
import { systemEntries } from '../sandbox/profile/profile.ts';
import { ALWAYS_REFUSED_CALLS, REFUSED_CALLS } from '../sandbox/seccomp/system-calls.ts';
import { readTail } from './attempt/resources/resource-watch.ts';
import { closedToRunUser } from './closed-to-run-user.ts';
import { holdsCredentials } from './credentials.ts';
import { deniedByMode, writeDeniedByMode } from './denied-by-mode.ts';
import { exceptionLine } from './exception-line.ts';
import { explainCall, portOf } from './explain-call.ts';
import { explainMissingFile } from './explain-missing-file.ts';
import { fixForExec } from './fix-for-exec.ts';
import { fixForHost, fixForHosts } from './fix-for-hosts.ts';
import { hintOfDenied, isSaidIn } from './hint-of-denied.ts';
import type { Outcome } from './outcome.ts';
import { ownFolders } from './plan/resolve-call.ts';
import type { ToolPlan } from './plan/tool-plan.ts';
import type { RunnerServices } from './services.ts';
import { wholePath } from './whole-path.ts';

const TAIL_BYTES = 16_384;
const MAX_SHOWN = 5;
const MISSING = /No such file or directory|\bENOENT\b/i;
const WITHOUT_STDERR = 'It wrote nothing to stderr: its output may say why.';
const OTHER_PLACES =
  'Let the tool write into its workspace, or to a path that its caller gives (an input with access: write)';
const WITHOUT_PATTERN = 'rename it, or name it as an argument: *, $ and ~ have another meaning in a manifest';
const OTHER_PLACES_OF_EXEC =
  'Let the program write into its workspace, or to a file or folder of yours that the flag --write names';

/** Something that the sandbox may have denied; `allow` is absent when no single manifest line allows it. */
interface Reported {
  what: string;
  said: string;
  allow?: Remedy;
  /** What `allow` allows. It is not recorded. */
  denial?: Denial;
  fix: string;
  /** No setting allows it, and the fix is another way. */
  isNever?: true;
  /** The path, when nothing is there outside of the sandbox, either: the tool meant to write it, or names a wrong path. */
  missing?: string;
  /** The path, when its name says that it holds credentials. */
  credentials?: string;
  /** Why the tool failed without the sandbox: the machine denies it also outside, or the file is missing there, too. */
  because?: string;
}

/**
 * Warns of what the sandbox may have denied to a tool that failed, with the manifest lines that would allow it. The outcome gets the
 * same hint when it has no specific one. It is a guess from the tool's last lines of stderr, reported only when the machine confirms it:
 * the path exists outside the sandbox and was not granted, the program exists and was not listed. It reads no file and runs no program.
 */
export function explainFailure(
  services: RunnerServices,
  plan: ToolPlan,
  { log }: RunWriter,
  outcome: Outcome,
): void {
  const own = outcome.byRunner ? '' : `${outcome.message ?? ''}\n${outcome.hint ?? ''}`;
  const words = `${tailIn(plan.workspace.stderrLog)}\n${own}`;
  explainDenials(services, plan, log, outcome, { words, own });
  explainMissingFile(plan, log, outcome, { words, project: services.config.root });
  if (plan.sandboxed.isolation.backend !== 'none')
    explainCall(plan, outcome, words, services.config.config.security);
}

/** Warns of what the sandbox may have denied. `own` is what the tool itself reported as its error. */
function explainDenials(
  services: RunnerServices,
  plan: ToolPlan,
  log: RunLog,
  outcome: Outcome,
  { words, own }: { words: string; own: string },
): void {
  const { isolation } = plan.sandboxed;
  if (isolation.backend === 'none') return;
  const calls = [...REFUSED_CALLS, 'socket'];
  const folders = [...ownFolders(services, plan.callerEnv), plan.workspace.dir];
  const reports: Reported[] = [];
  const cause = exceptionLine(words) ?? '';
  const places = { own: folders, project: services.config.root, cause };
  for (const each of saidDenials(words, calls)) {
    const said = each.kind === 'path' ? { ...each, path: wholePath(each, plan.args) } : each;
    const one = forCaller(reportOf(said, plan, places), services, plan);
    if (one !== undefined && said.kind === 'path' && MISSING.test(said.said) && isMissing(said.path))
      one.missing = normalize(said.path);
    if (one !== undefined && reports.every(({ fix }) => fix !== one.fix)) reports.push(one);
  }
  if (reports.length === 0) return;
  // What the machine itself denies comes first: with more rights, the tool would fail again.
  const certain = reports.filter(({ because }) => because !== undefined);
  if (certain.length > 0) {
    warnOfMachine(log, outcome, certain.slice(0, MAX_SHOWN));
    return;
  }
  const shown = reports.slice(0, MAX_SHOWN);
  const needsStandard =
    !isExec(plan) &&
    plan.tool.manifest.permissions.level === 'minimal' &&
    shown.some(({ allow }) => allow?.path.startsWith('permissions.'));
  const fixes = shown.flatMap(({ fix, isNever }) => (isNever ? [] : [fix])).join('; ');
  const ways = shown.flatMap(({ what, fix, isNever }) =>
    isNever ? [`Nothing allows ${what}. ${fix}`.trim()] : [],
  );
  const missing = shown.flatMap(({ missing: path }) => (path === undefined ? [] : [path]));
  const secret = shown.flatMap(({ credentials: path }) => (path === undefined ? [] : [path]));
  const hint = [
    ...(secret.length > 0
      ? [`${secret.join(' and ')} may hold credentials: ask a person before a tool may read that`]
      : []),
    ...(missing.length > 0
      ? [
          `There is no ${missing.join(' and no ')} on this machine: to read it, correct the path; or let the tool make it`,
        ]
      : []),
    ...(fixes === ''
      ? []
      : [`To allow it: ${fixes}${needsStandard ? '; and set permissions.level: standard' : ''}`]),
    ...ways,
  ].join('. ');
  log.append({
    type: 'runner_warning',
    code: 'E_PERMISSION',
    // The error that the runner reports has the hint itself.
    msg: `the sandbox may have denied ${shown.map(({ what }) => what).join('; ')}. This is a guess from the tool's message '${shown[0]!.said}'${outcome.byRunner ? '' : `. ${hint}`}`,
    hint,
    denied: shown,
  });
  outcome.hint = hintOfDenied(outcome.hint, outcome.code, { hint, denied: shown });
  // What the sandbox denies, it denies again.
  if (isSaidIn(own, shown)) outcome.retryable = false;
}

/** Warns of what would fail outside of the sandbox, too. */
function warnOfMachine(log: RunLog, outcome: Outcome, denied: Reported[]): void {
  const hint = denied.map(({ because, fix }) => `${because}: ${fix}`).join('; ');
  const msg = `this failed without the sandbox: ${denied.map(({ what }) => what).join('; ')}`;
  log.append({
    type: 'runner_warning',
    code: 'E_PERMISSION',
    msg: outcome.byRunner ? msg : `${msg}. ${hint}`,
    hint,
    denied,
  });
  outcome.hint = hintOfDenied(outcome.hint, outcome.code, { hint, denied });
}

/** Adds to the message of a failed program what it wrote of the cause. A tool that reports an error itself has named it. */
export function nameException(plan: ToolPlan, outcome: Outcome): void {
  if (outcome.code !== 'E_TOOL_FAILED' || !(outcome.byRunner || outcome.isBareExit)) return;
  const tail = tailIn(plan.workspace.stderrLog);
  if (tail.trim() === '' && outcome.hint === errorInfo('E_TOOL_FAILED')!.hint) outcome.hint = WITHOUT_STDERR;
  const line = exceptionLine(tail);
  if (line !== undefined) outcome.message = `${outcome.message}: ${line}`;
}

/** A program without a manifest gets what it needs by flags of `acor exec`; the manifest of a script is in its header. */
function forCaller(
  reported: Reported | undefined,
  services: RunnerServices,
  plan: ToolPlan,
): Reported | undefined {
  if (reported?.allow === undefined) return reported;
  const { allow, denial, ...rest } = reported;
  const placed = { ...allow, ...placeOf(plan.tool, allow.path) };
  const fix = isExec(plan) ? fixForExec(denial!, services, plan) : remedySentence(placed);
  const { security } = services.config.config;
  return {
    ...rest,
    ...(!isExec(plan) && { allow: placed }),
    fix: denial?.kind === 'host' ? fixForHost(fix, denial, plan, security) : fix,
  };
}

function isExec({ tool }: ToolPlan): boolean {
  return execProgram(tool.name) !== undefined;
}

/** ACOR's own folders, the project, and the line of stderr that names why the tool failed. */
interface Places {
  own: readonly string[];
  project: string;
  cause: string;
}

function reportOf(said: SaidDenial, plan: ToolPlan, places: Places): Reported | undefined {
  switch (said.kind) {
    case 'path':
      return ofPath(said, plan, places);
    case 'command':
      return ofCommand(said.command, said.said, plan);
    case 'network':
      return ofNetwork(said, plan);
    default:
      return ofCall(said.call, said.said, plan);
  }
}

function ofPath(
  { path: written, isWrite, said }: Extract<SaidDenial, { kind: 'path' }>,
  plan: ToolPlan,
  { own, project, cause }: Places,
): Reported | undefined {
  const path = normalize(written);
  const { level, network } = plan.tool.manifest.permissions;
  const exists = realOf(path) !== undefined;
  const real = realOf(path) ?? join(realOf(dirname(path)) ?? '/', basename(path));
  if (level === 'privileged' || (dirname(real) === '/' && !isWrite)) return undefined;
  // A shell names itself or its script in every message.
  if ([plan.tool.entry, plan.tool.dir, realOf(plan.command.runtime)].includes(real)) return undefined;
  // A missing path outside the project that no argument names: most programs only probe for such files, and go on.
  const isProbe = !exists && !isWrite && !plan.args.includes(written) && !isInside(real, project);
  if (isProbe && !(cause.includes(written) && realOf(dirname(path)) !== undefined)) return undefined;
  if (plan.staged.some(({ target }) => target === real)) return ofOutput(path, said);
  const program = ofProgram(real, said, plan);
  if (program !== undefined) return program;
  const system = systemEntries(network.egress_allow.length === 0 ? 'none' : 'listed').map(
    (each) => each.path,
  );
  const fixed = [plan.tool.dir, ...system, ...NEVER_GRANTED];
  const holds = (folders: readonly string[]) => folders.some((each) => isInside(real, each));
  const byMachine =
    isWrite || holds([...fixed, ...own]) ? undefined : ofMachine({ path, said, exists }, holds, plan);
  if (byMachine !== undefined) return byMachine;
  const kind = isWrite || !exists || holds(grantsOf(plan, 'read')) ? 'write' : 'read';
  const what = `${kind === 'read' ? 'reading' : 'writing'} ${path}`;
  const never = {
    what,
    said,
    fix: isExec(plan) ? OTHER_PLACES_OF_EXEC : OTHER_PLACES,
    isNever: true,
  } as const;
  if (isWrite && (holds([...NEVER_GRANTED, ...own]) || systemFolderOf(dirname(real)) !== undefined))
    return never;
  if (holds([...(isWrite ? [] : fixed), ...own, ...grantsOf(plan, kind)])) return undefined;
  const input = kind === 'write' ? inputOf(real, plan) : undefined;
  const isFolder = exists && statSync(real).isDirectory();
  const denial = { kind, path: real, isFolder } as const;
  if (input !== undefined) return allowed(what, said, denial, outputRemedy(input));
  const opened = kind === 'write' && !isFolder ? dirname(real) : real;
  if (opened === '/') return undefined;
  if (kind === 'write' && systemFolderOf(opened) !== undefined) return never;
  // ACOR refuses grants that include its own folders. A single file beside them may be an output that the caller names.
  if (own.some((each) => isInside(each, opened)))
    return kind === 'write' && !isFolder ? allowed(what, said, denial, outputRemedy()) : undefined;
  if (hasMeaning(isInside(opened, project) ? opened.slice(project.length) : opened))
    return { what, said, fix: WITHOUT_PATTERN };
  const reported = granted(what, said, denial, isExec(plan) ? undefined : project);
  return kind === 'read' && holdsCredentials(real) ? { ...reported, credentials: path } : reported;
}

/** The report of an output of the call: the tool gets a copy of the file, which has its mode. */
function ofOutput(path: string, said: string): Reported | undefined {
  const denial = writeDeniedByMode(path);
  return denial && { what: `writing ${path}`, said, because: denial.why, fix: denial.fix };
}

/** The report of a path that the tool could not read outside of the sandbox, either. */
function ofMachine(
  { path, said, exists }: { path: string; said: string; exists: boolean },
  holds: (folders: readonly string[]) => boolean,
  plan: ToolPlan,
): Reported | undefined {
  const isGranted = holds(grantsOf(plan, 'read'));
  const denial = deniedByMode(path) ?? (isGranted ? closedToRunUser(path, plan) : undefined);
  const what = `reading ${path}`;
  if (denial !== undefined) return { what, said, because: denial.why, fix: denial.fix };
  // The tool could look into the folder. Elsewhere, a write into a folder that the sandbox hides has the same message.
  if (exists || !MISSING.test(said) || !isGranted) return undefined;
  return { what, said, because: `there is no ${path} on this machine`, fix: 'correct the path' };
}

/** The name of the input by which the caller named the path, which the tool may therefore read. */
function inputOf(path: string, { grants, tool }: ToolPlan): string | undefined {
  const names = new Set(inputsOf(tool.manifest)?.map(({ name }) => name));
  return grants.find((grant) => names.has(grant.input) && isInside(path, grant.path))?.input;
}

/** The report of a program file that the tool could read but not execute, as every program in /usr. */
function ofProgram(path: string, said: string, plan: ToolPlan): Reported | undefined {
  const isOnPath = pathOf(plan).some((folder) => realOf(folder) === dirname(path));
  return isOnPath ? ofCommand(basename(path), said, plan) : undefined;
}

function ofCommand(command: string, said: string, plan: ToolPlan): Reported | undefined {
  const { commands, level } = plan.tool.manifest.permissions;
  const name = basename(command);
  const found = pathOf(plan)
    .map((folder) => join(folder, name))
    .filter(isProgram);
  if (level === 'privileged' || found.length === 0 || name === basename(plan.command.runtime))
    return undefined;
  const what = `starting the program ${name}`;
  // A shell tries each of them.
  const closed = found.map((program) => closedToRunUser(program, plan));
  if (closed[0] !== undefined && !closed.includes(undefined))
    return { what, said, because: closed[0].why, fix: closed[0].fix };
  if (plan.sandboxed.isolation.not_enforced.includes('commands') || commands.includes(name)) return undefined;
  return granted(what, said, { kind: 'command', command: name });
}

function ofNetwork(
  { host, port, said }: Pick<Extract<SaidDenial, { kind: 'network' }>, 'host' | 'port' | 'said'>,
  plan: ToolPlan,
): Reported | undefined {
  const { level, network } = plan.tool.manifest.permissions;
  // The egress proxy reports host names that are not listed when the tool resolves them.
  const isReported = network.egress_allow.length > 0 && (host === null || !/^[\d.]+$|:/.test(host));
  if (level === 'privileged' || isReported) return undefined;
  if (host !== null) {
    return granted(`the network (${host})`, said, {
      kind: 'host',
      host,
      port: port ?? portOf(plan.args, host) ?? 443,
    });
  }
  const place = placeOf(plan.tool, 'permissions.network.egress_allow');
  const fix = isExec(plan)
    ? 'pass the flag --net with each host and its port, such as: --net api.example.com:443'
    : `In ${place.file}, under ${place.path}, list each host with its port, such as: - api.example.com:443`;
  return { what: 'the network', said, fix: fixForHosts(fix, plan) };
}

/** A manifest cannot allow single system calls: a privileged tool may use most of them. */
function ofCall(call: string, said: string, plan: ToolPlan): Reported | undefined {
  const { level } = plan.tool.manifest.permissions;
  if (call === 'socket' && plan.sandboxed.isolation.backend === 'landlock') {
    return ofNetwork({ host: null, port: null, said }, plan);
  }
  const what = `the system call ${call}`;
  if (ALWAYS_REFUSED_CALLS.includes(call)) return { what, said, fix: '', isNever: true };
  if (level === 'privileged') return undefined;
  // Only a tool of the project can be approved.
  const how = isAdHoc(plan.tool.name) ? 'make it a tool of the project with' : 'set';
  return { what, said, fix: `${how} permissions.level: privileged, which a user must approve` };
}

function granted(what: string, said: string, denial: Denial, project?: string): Reported {
  return allowed(what, said, denial, explainDenial(denial, project));
}

function allowed(what: string, said: string, denial: Denial, allow: Remedy): Reported {
  return { what, said, allow, denial, fix: remedySentence(allow) };
}

function grantsOf({ grants }: ToolPlan, access: 'read' | 'write'): string[] {
  return grants.filter((grant) => access === 'read' || grant.access === 'write').map(({ path }) => path);
}

function pathOf({ callerEnv }: ToolPlan): string[] {
  return (callerEnv['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
}

function tailIn(path: string): string {
  try {
    return readTail(path, TAIL_BYTES);
  } catch {
    return '';
  }
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
