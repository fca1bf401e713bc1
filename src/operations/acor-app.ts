import { resolve } from 'node:path';
import type { Route } from '../compose/cli-app.ts';
import type { OperationDescription } from '../compose/operation.ts';
import { inFolder } from '../compose/write-command.ts';
import type { LoadedConfig } from '../core/config/load.ts';
import { policyPaths } from '../core/guard/policy-paths.ts';
import type { Authorize, CalledOperation, Principal } from '../core/ports/principal.ts';
import type { RunLauncher } from '../core/ports/run-launcher.ts';
import type { Project, ProjectCache } from '../core/project/open-project.ts';
import type { ProjectTools } from '../core/project/open-tools.ts';
import type { ProjectServices } from '../core/project/runner-services.ts';
import type { ToolEntry } from '../core/registry/registry.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { type ErrorInfo, errorInfo } from '../protocol/error-codes.ts';
import type { CallerAction } from '../protocol/policy-file.ts';
import { callerOfSchedule, recordedCaller } from '../protocol/run.ts';
import { agentOf } from '../util/audience.ts';
import { userName } from '../util/users.ts';
import { commandOf, type WriteCommand } from './command-forms.ts';
import type { Surfaces } from './surfaces.ts';

export type { Project } from '../core/project/open-project.ts';
export type { ProjectTools } from '../core/project/open-tools.ts';
export type { Authorize, CalledOperation, Principal };

/** What every operation gets, for one command or one request. It opens the project when an operation first asks for it. */
export class AcorApp {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Who calls. */
  readonly principal: Principal;
  /** The surface that the caller uses; the store records it with each answer. */
  readonly surface: 'command' | 'mcp' | 'http' | 'library';
  /** The servers that a command can start; undefined inside a server. */
  readonly surfaces: Surfaces | undefined;
  /** Starts detached runs in a process of many requests; without it each gets a new supervisor. */
  readonly launcher: RunLauncher | undefined;
  /** All operations. Passed in, because the table of routes loads the operations that use this class. */
  readonly routes: readonly Route<AcorApp>[];
  /** The schedule that makes this call. */
  readonly #schedule: string | undefined;
  readonly #note: (line: string) => void;
  readonly #authorize: Authorize;
  readonly #projects: ProjectCache | undefined;
  readonly #givenCwd: string | undefined;
  readonly #config: Readonly<Record<string, unknown>> | undefined;
  readonly #warnings: string[] = [];
  /** Those of the configuration of the opened project. */
  #ofConfig: readonly string[] = [];
  #tools: Promise<ProjectTools> | undefined;
  #project: Promise<Project> | undefined;
  readonly #found = new Map<string, Promise<ToolEntry>>();
  #codes: Readonly<Record<string, ErrorInfo>> = {};

  /**
   * `note` writes a line for people to stderr. `projects` keeps projects open in a process that serves many requests. `config` is configuration
   * by dotted key; it wins over every file.
   */
  constructor(options: {
    routes: readonly Route<AcorApp>[];
    cwd: string;
    env: AcorApp['env'];
    principal?: Principal;
    surface?: AcorApp['surface'];
    authorize?: Authorize | undefined;
    note?: (line: string) => void;
    surfaces?: Surfaces | undefined;
    projects?: ProjectCache;
    launcher?: RunLauncher;
    config?: Readonly<Record<string, unknown>> | undefined;
    schedule?: string;
    /** The `--cwd` of the command line, as it was given. */
    givenCwd?: string | undefined;
    /** A caller that has just opened it gives it. */
    project?: Project;
  }) {
    this.routes = options.routes;
    this.cwd = options.cwd;
    this.env = options.env;
    this.principal = options.principal ?? localPrincipal(options.env);
    this.surface = options.surface ?? 'command';
    this.#authorize = options.authorize ?? allowEverything;
    this.#note = options.note ?? (() => {});
    this.surfaces = options.surfaces;
    this.launcher = options.launcher;
    this.#projects = options.projects;
    this.#config = options.config;
    this.#givenCwd = options.givenCwd;
    this.#schedule = options.schedule;
    this.#tools = this.#project = options.project && Promise.resolve(options.project);
  }

  /** The caller for the record of a run: the schedule, the agent or the client; undefined for the local user. */
  get caller(): string | undefined {
    if (this.#schedule !== undefined) return callerOfSchedule(this.#schedule);
    return recordedCaller(this.principal) ?? undefined;
  }

  /** Writes a next step as the exact command for this caller. Events, which every reader gets, have it without a `--cwd`. */
  readonly commandOf: WriteCommand = (step) => inFolder(commandOf(step), 'acor', this.#givenCwd);

  /** Says on stderr, and in the envelope, what the caller should know. */
  warn(warning: string): void {
    this.#warnings.push(warning);
    this.#note(`acor: ${warning}`);
  }

  /** What is wrong with the configuration of the opened project, for the reader of every answer. */
  get warnings(): readonly string[] {
    return [...this.#ofConfig, ...this.#warnings];
  }

  /**
   * Throws when the principal may not call the operation with this input: E_PERMISSION where the surface does not offer it, E_POLICY_DENIED
   * where `who_may` of a policy does not name the principal. `principal` is another one than the caller, for whom the caller acts.
   */
  async authorize(
    operation: CalledOperation,
    input: Readonly<Record<string, unknown>>,
    principal: Principal = this.principal,
  ): Promise<void> {
    const answer = await this.#authorize(principal, operation, input);
    if (answer.allowed) {
      try {
        return await this.#askPolicy(operation.name, actionsOf(operation, input), principal, input['run']);
      } catch (error) {
        if (this.#showsInvalidPolicy(operation, principal, error)) return;
        throw error;
      }
    }
    const { kind, name } = principal;
    throw new AcorError('E_PERMISSION', `${kind} '${name}' may not call ${operation.name}: ${answer.why}`, {
      hint: answer.hint ?? 'Ask the administrator who set the policy, or use a principal that is allowed.',
      details: { principal: { kind, name }, operation: operation.name },
    });
  }

  /** Whether the principal may call the operation with this input. */
  async isAllowed(operation: CalledOperation, input: Readonly<Record<string, unknown>>): Promise<boolean> {
    try {
      await this.authorize(operation, input);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Callers at this machine get the reports that say what is wrong with the policy. `validate` also writes them and fixes the policy; the runs of its
   * self-tests ask for themselves.
   */
  #showsInvalidPolicy({ name, effect }: CalledOperation, { kind }: Principal, error: unknown): boolean {
    const isHere = kind === 'local-user' || this.surface === 'command' || this.surface === 'library';
    const isInvalid = error instanceof AcorError && error.code === 'E_CONFIG_INVALID';
    const isReport = effect === 'reads' ? REPORTS.has(name) : name === 'project.validate';
    return isHere && isInvalid && isReport;
  }

  /** Whether the policy lets the caller call the operation with this input. */
  async policyAllows(operation: CalledOperation, input: Readonly<Record<string, unknown>>): Promise<boolean> {
    try {
      await this.#askPolicy(operation.name, actionsOf(operation, input), this.principal, input['run']);
      return true;
    } catch (error) {
      // An invalid policy leaves nothing to others: the call reports it.
      return !(error instanceof AcorError && error.code === 'E_POLICY_DENIED');
    }
  }

  /** Whether there is a policy at all. */
  async hasPolicy(): Promise<boolean> {
    const project = await this.tools().catch(() => undefined);
    return policyPaths(project?.config.root ?? this.cwd, this.env).length > 0;
  }

  /** Throws E_POLICY_DENIED where the policy does not let the caller answer questions of a run that the caller starts. */
  async authorizeOwnAnswers(): Promise<void> {
    await this.#askPolicy('run.answer', ['answer', 'answer_own'], this.principal);
  }

  async #askPolicy(
    operation: string,
    actions: readonly CallerAction[],
    principal: Principal,
    run?: unknown,
  ): Promise<void> {
    if (actions.length === 0) return;
    // Where the project cannot be opened, the operation says so, and the files of the user and the system count.
    const root = (await this.tools().catch(() => undefined))?.config.root ?? this.cwd;
    if (policyPaths(root, this.env).length === 0) return;
    const store = (await this.project().catch(() => undefined))?.store;
    const place = { root, env: this.env, store };
    const { callerRefusals, refusedCaller } = await import('./caller-refusals.ts');
    const violations = await callerRefusals(principal, actions, run, place);
    if (violations.length > 0) throw refusedCaller(operation, violations);
  }

  /** Whether the configuration of the opened project wants a process that waits for the next calls. */
  async wantsHost(): Promise<boolean> {
    const project = await this.#tools?.catch(() => undefined);
    return project?.config.config.host === 'auto';
  }

  /** The project, if an operation has asked for it. */
  get openedProject(): Promise<ProjectTools> | undefined {
    return this.#tools;
  }

  /** The project for an operation that looks at no run. */
  tools(): Promise<ProjectTools> {
    this.#tools ??= this.#open();
    return this.#tools;
  }

  project(): Promise<Project> {
    this.#project ??= this.tools().then((tools) => (isWhole(tools) ? tools : withRuns(tools)));
    return this.#project;
  }

  /** The project with its present configuration, for an operation that runs for minutes. */
  async projectNow(): Promise<Project> {
    const tools = await this.#read();
    return isWhole(tools) ? tools : withRuns(tools);
  }

  /**
   * The services that a run needs. This process adopts the orphans of its tools, so that none of them escapes, unless it is that of another
   * program: a library must not change how its host gets its children.
   */
  async services(): Promise<ProjectServices> {
    const [project, { runnerServices }] = await Promise.all([
      this.project(),
      import('../core/project/runner-services.ts'),
    ]);
    const projects = this.#projects;
    return runnerServices(project, { env: this.env, adoptOrphans: this.surface !== 'library', projects });
  }

  /** The tool of the project that this request is about, looked up once. Throws E_TOOL_NOT_FOUND or E_MANIFEST_INVALID. */
  tool(given: string): Promise<ToolEntry> {
    const name = calledName(given, this.cwd);
    let tool = this.#found.get(name);
    if (tool === undefined) {
      tool = this.tools().then(({ registry }) => registry.find(name));
      this.#found.set(name, tool);
    }
    return tool;
  }

  /**
   * Reads the project's own error codes, for `errorInfo`. Only a failure needs them. When the file of codes is invalid, the built-in codes
   * apply (`acor validate` reports the file).
   */
  async readErrorCodes(): Promise<void> {
    if (this.#tools === undefined) return;
    try {
      this.#codes = await (await this.#tools).registry.errorCodes();
    } catch {}
  }

  /** The row of a code, the project's own codes first. */
  errorInfo(code: string): ErrorInfo | undefined {
    return errorInfo(code, this.#codes);
  }

  async #open(): Promise<ProjectTools> {
    const project = await this.#read();
    await this.warnOf(project.config);
    for (const warning of this.#ofConfig) this.#note(`acor: ${warning}`);
    // The last step, because what has a project may write into it at once.
    await this.refuseGone();
    return project;
  }

  async #read(): Promise<ProjectTools> {
    const place = { cwd: this.cwd, env: this.env, overrides: this.#config, commandOf };
    const { openTools } = await import('../core/project/open-tools.ts');
    return this.#projects?.open(place) ?? openTools(place);
  }

  /** Throws E_INPUT_NOT_FOUND when the folder of a server was moved away while it serves. */
  async refuseGone(): Promise<void> {
    if (this.surface !== 'mcp' && this.surface !== 'http') return;
    const { refuseMissingFolder } = await import('./closed-place.ts');
    refuseMissingFolder(this.cwd);
  }

  /** Answers have the warnings of this configuration. A command that changes it calls this again. */
  async warnOf(config: LoadedConfig): Promise<void> {
    if (config.trust.isTrusted) {
      this.#ofConfig = config.warnings;
      return;
    }
    const { untrusted } = await import('./project/untrusted.ts');
    this.#ofConfig = [...config.warnings, untrusted(config, this.commandOf)];
  }
}

/** In a process of many requests the runs stay open, too. */
function isWhole(tools: ProjectTools | Project): tools is Project {
  return 'store' in tools;
}

/** Loaded late: a command that only looks at tools needs no store. */
async function withRuns(tools: ProjectTools): Promise<Project> {
  return (await import('../core/project/open-project.ts')).withRuns(tools, commandOf);
}

/** The principal of a local command: the agent that started this process, else its user. Reads the user's name only when it is needed. */
function localPrincipal(env: Readonly<Record<string, string | undefined>>): Principal {
  const agent = agentOf(env);
  if (agent !== undefined) return { kind: 'agent', name: agent };
  return {
    kind: 'local-user',
    get name() {
      return userName();
    },
  };
}

/** Allows everything to the local user, and to the agents that run as this user: they could do the same without ACOR. */
const allowEverything: Authorize = () => ({ allowed: true });

/** What each operation that writes is for a policy; `change` for those that are not here. `null`: the policy has no say. */
const CALLER_ACTIONS: Readonly<Record<string, CallerAction | null>> = {
  'run.start': 'run',
  'run.exec': 'run',
  'run.resume': 'run',
  'run.retry': 'run',
  'run.replay': 'run',
  'task.run': 'run',
  'tool.learn': 'run',
  'workflow.pipe': 'run',
  'workflow.resume': 'run',
  'workflow.run': 'run',
  'run.answer': 'answer',
  'run.cancel': 'cancel',
  'schedule.add': 'run',
  'schedule.watch': 'run',
  'project.trust': 'approve',
  'tool.approve': 'approve',
  // They serve or continue what other calls have started, and each call is asked for by itself.
  'host.serve': null,
  'host.stop': null,
  'http.serve': null,
  'mcp.serve': null,
  'outbox.deliver': null,
  'plugin.host': null,
  'run.supervise': null,
  // It works in a folder of its own.
  'system.self-test': null,
};

/** What only reads, and shows nothing of the project. A hook asks for itself. */
const READS_ACOR = new Set([
  'agents.hook',
  'host.show',
  'system.complete',
  'system.errors',
  'system.man',
  'system.tools',
  'system.version',
]);

/** What writes, and with `list` only shows what was given. */
const LISTS = new Set(['project.trust', 'tool.approve']);

/** What says what is wrong with the files of the project, and how to change them. */
const REPORTS = new Set([
  'agents.check',
  'config.show',
  'project.validate',
  'system.explain',
  'system.health',
]);

/**
 * What a call means for `who_may`; empty where the policy has no say. A dry run is what it tries: it shows no more than the call, and is a `read` where the
 * call itself is nothing for a policy.
 */
function actionsOf(
  { name, effect }: CalledOperation,
  { list, dry_run }: Readonly<Record<string, unknown>>,
): CallerAction[] {
  if (effect === 'reads' || (LISTS.has(name) && list === true)) return READS_ACOR.has(name) ? [] : ['read'];
  const action = name in CALLER_ACTIONS ? CALLER_ACTIONS[name] : 'change';
  if (action) return [action];
  return dry_run === true ? ['read'] : [];
}

/** The name of what a caller in `cwd` wants to run: that of a tool, or the path of a script. */
export function calledName(given: string, cwd: string): string {
  return given.includes('/') && !given.includes(':') ? resolve(cwd, given) : given;
}

/** The operation as a policy sees it when it is called with this input. */
export function calledWith(
  { name, effect, readsWithout }: Pick<OperationDescription, 'name' | 'effect' | 'readsWithout'>,
  input: Readonly<Record<string, unknown>>,
): CalledOperation {
  const onlyReads = readsWithout !== undefined && !readsWithout.some((key) => input[key]);
  return { name, effect: onlyReads ? 'reads' : effect };
}
