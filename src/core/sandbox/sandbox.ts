import type { PermissionLevel } from '../../protocol/manifest-permissions.ts';
import type { ResourceLimits } from '../../protocol/resource-limits.ts';
import type { Isolation } from '../../protocol/v1/runner-events.ts';
import type { Exit, SpawnRequest } from '../process/runtime.ts';
import type { EgressNote } from './egress/connection-log.ts';
import type { EgressPlan } from './egress/egress-plan.ts';
import type { Program, ToolStart } from './launcher/launch-steps.ts';
import type { SeccompRules } from './seccomp/filter.ts';
import type { Architecture } from './seccomp/system-calls.ts';

/** A path that a tool may access, absolute and real. */
export interface PathGrant {
  path: string;
  access: 'read' | 'write';
  /** What the tool finds at the path, if that is not what is there: a place that only ACOR can replace. */
  from?: string;
}

/** The folders of a run, by the access of its tool. */
export interface RunFolders {
  /** WORKSPACE, ARTIFACTS_DIR and LOG_DIR: writable. */
  writable: readonly string[];
  /** The cancel file, the answers and the secrets: readable. */
  readable: readonly string[];
  work: string;
}

/** What a run needs from its sandbox. All paths are absolute. */
export interface SandboxRequest {
  runId: string;
  argv: readonly [string, ...string[]];
  level: PermissionLevel;
  /** The program that runs the tool, as it is called, and its language: they decide which programs the tool needs. */
  runtime: string;
  language: string;
  toolDir: string;
  /** The folder of the project, whose programs and links no user of this machine has chosen. */
  project?: string;
  /** A person chose the runtime in the configuration, so that its installation is readable although it is not on the PATH. */
  isChosen?: boolean;
  folders: RunFolders;
  /** Where the tool starts, when that is not its workspace. */
  cwd?: string;
  /** Other readable paths, such as the SDKs. */
  libraries: readonly string[];
  /** Paths from the arguments and from the manifest. */
  grants: readonly PathGrant[];
  /** ACOR's own folders, which no grant opens. */
  hidden: readonly string[];
  /** Further executable programs by name; null when the manifest names none. */
  commands: readonly string[] | null;
  /** Programs beyond the manifest: those that the caller grants, and those for which a person is asked before the tool starts. */
  asked?: readonly string[];
  /** The tool is observed: it may start any program, and a file gets its system calls. No tool sees the file. */
  traceTo?: string;
  /** The PATH for finding programs. */
  path: string;
  /** `none`: no network. `listed`: only the hosts of `egress`. `host`: the machine's network. */
  network: 'none' | 'listed' | 'host';
  egress?: EgressPlan;
  limits: ResourceLimits;
}

/** The user of the tool, when the supervisor is root. */
export interface RunUser {
  uid: number;
  gid: number;
}

/**
 * The secrets of a tool, for a sandbox that mounts a separate folder for them. `open` returns a descriptor from which
 * the value can be read once.
 */
export interface SecretFiles {
  folder: string;
  files: readonly { name: string; open(): number }[];
}

/** Knows the secrets that are put into a tool's requests, and finds them in what the hosts answer. */
export interface SecretInjector {
  /** The text of a header that holds a secret; `{}` in the format is the value. */
  headerOf(secret: string, format: string): string;
  /** Overwrites the secrets in complete bytes. */
  cover(bytes: Buffer): Buffer;
  /** Overwrites them in one stream of bytes. */
  coveringStream(): CoveringStream;
}

/** Each call returns the bytes to pass on. What they are decides nothing about how many are held back. */
export interface CoveringStream {
  readonly holdsBytes: boolean;
  push(chunk: Uint8Array): Buffer;
  /** Passes on what is held. */
  flush(): Buffer;
}

/** What is only known when the tool starts. */
export interface LaunchOptions {
  env: Readonly<Record<string, string>>;
  stdin?: number;
  stdout: number | 'pipe';
  stderr: number | 'pipe';
  /** Null: the tool runs as the supervisor's user. */
  user: RunUser | null;
  /** A folder that no tool sees, for temporary files. */
  scratch: string;
  /** Descriptors through which the tool joins cgroups before it starts; the caller closes them. */
  groups?: readonly number[];
  /** Only for a confinement that accepts secrets. */
  secrets?: SecretFiles;
  /** Secrets that are put into the tool's requests; the tool has placeholders. */
  injector?: SecretInjector;
  /** Receives the tool's connections when the network is `listed`. */
  onEgress?(note: EgressNote): void;
  /** Asks whether the tool may connect to a host that no rule covers. False when no answer comes. */
  askHost?(host: string, port: number): Promise<boolean>;
}

/** A tool that is ready to start. */
export interface SandboxLaunch {
  spawn: SpawnRequest;
  /** The number of generations at the root of the process tree that belong to the sandbox, not to the tool. */
  sandboxProcessDepth: number;
  /**
   * The started process is a proxy for a tool outside of its process tree: it forwards signals, and only it is
   * signalled.
   */
  isProxyProcess?: true;
  /**
   * The started process stays the ancestor of everything that the tool starts, and kills it all at SIGUSR2. Without it, or
   * when it is killed first, a process that has cleared its environment is no longer found.
   */
  hasReaper?: true;
  /** A command that ends the tool wherever it runs. The watchdog uses it when the supervisor has died. */
  forceKillCommand?: readonly string[];
  /** Whether the tool has exited while the sandbox still ends the remaining processes. */
  hasEnded(): boolean;
  /**
   * Call it with the exit of the started process. Returns the exit of the tool, and how many remaining processes the
   * sandbox killed. `isEmpty`: the kernel has ended every process of the sandbox, so that none can be left. Throws when the sandbox failed.
   */
  settle(exit: Exit): { exit: Exit; left: number; isEmpty?: boolean };
  /** Closes the descriptors after the process was started or failed to start. */
  release(): void;
  /** Call it after the tool has ended. */
  close(): void;
}

/** A prepared confinement. Nothing has been started or written yet. */
export interface Confinement {
  isolation: Isolation;
  /** Whether the tool gets a separate Unix user. */
  changesUser: boolean;
  /** Whether secrets are passed by descriptor; otherwise they are files in the run's folder. */
  takesSecrets?: boolean;
  /** Additional environment variables for the tool's network access. */
  env?: Readonly<Record<string, string>>;
  launch(options: LaunchOptions): SandboxLaunch;
  /** Undefined when the sandbox of such a run cannot be started before the run. */
  standby?(): Promise<StandbySource | undefined>;
  /** Undefined when the sandbox of this run is made of more than its plan, so that it cannot be started ahead. */
  ahead?: AheadSource;
}

/** Starts sandboxes that wait for their run. Each is used for one run. */
export interface StandbySource {
  /**
   * Equal for two runs whose sandboxes differ only in their folders, their user, and what a tool adds to its process; with a warm start, in
   * nothing that the process has got already.
   */
  key(warm: WarmStart | undefined): string;
  /** Starts a sandbox that can be entered by a run of the same key. */
  prepare(place: StandbyPlace): StandbySandbox;
  /** Where its folder has what will be at this place within the run's folder. */
  placeIn(folder: string, within: string): string;
  /** What the tool of this run adds. */
  start(options: LaunchOptions): ToolStart;
}

/** Starts the sandbox of one run before the rest of the run is ready. */
export interface AheadSource {
  /** Whether its tool can join control groups that are made after it. */
  joinsGroups: boolean;
  prepare(place: Omit<StandbyPlace, 'warm'>): StandbySandbox;
  /** What the tool adds. */
  start(options: LaunchOptions): ToolStart;
}

/** What a sandbox gets that waits for its run. */
export interface StandbyPlace {
  /** A folder beside the runs, with folders in the places where a run has them: the run that enters makes them its own. Or the run's own folder. */
  folder: string;
  user: RunUser | null;
  /** Undefined for an empty input. */
  stdin: number | undefined;
  stdout: number;
  stderr: number;
  /** The end of a pipe from which the launcher reads what the run adds. */
  orders: number;
  warm: WarmStart | undefined;
}

/** An interpreter that starts before its run, with the variables that do not depend on it, and then waits: it reads what the run adds from descriptor 3. */
export type WarmStart = Program;

/** A fork server: the path of Perl, and the processor. */
export interface ForkServerParts {
  perl: string;
  architecture: Architecture;
}

/** A sandbox that waits for its run, or for the last steps of the start of its tool. */
export interface StandbySandbox {
  spawn: SpawnRequest;
  /** When `spawn` starts the launcher itself: of what a `ForkServer` is made that can start it instead. */
  forkServer?: ForkServerParts;
  /** Closes the descriptors after the process was started or failed to start. */
  release(): void;
  /** Whether it has mounted its folders: before that they must not be moved. */
  isReady(): boolean;
  /** Whether its launcher has read what the run adds: before that no tool has started in it. */
  isTaken(): boolean;
  /** The bytes for the pipe, by which the run with this real folder enters the sandbox. One that was started ahead has that folder. */
  enter(start: ToolStart, run: string): Uint8Array;
  /** As that of a run that has started its sandbox itself. */
  launch: SandboxLaunch;
}

/** One check of a backend, in the format of `acor health`. */
export interface SandboxProbe {
  available: boolean;
  detail: string;
  /** A command or an edit that makes it available. */
  fix?: string;
  /** Probe results about the system, for the backend itself. */
  features?: Readonly<Record<string, string | number | boolean>>;
}

/** One way to confine a tool. Each is a file in `backends/` and passes the contract test suite. */
export interface SandboxBackend {
  readonly name: string;
  /** 1 is the strongest; 3 is no boundary. */
  readonly tier: number;
  /** Whether it can observe a tool from outside. Otherwise it is never asked to. */
  readonly observes?: boolean;
  /** Whether it can put a layer over a path. Otherwise it is never asked to. */
  readonly mountsLayers?: boolean;
  /** Whether it can restrict the network to single hosts. Otherwise it is never asked to. */
  readonly opensHosts?: boolean;
  /** Whether it can read the tool's requests, to put secrets into them and to check them against rules. */
  readonly endsTls?: boolean;
  /** What its probe depends on besides the system. */
  readonly identity?: string;
  /** Tests the backend on this machine, which may take some milliseconds. `choose.ts` caches the result. */
  probe(): Promise<SandboxProbe>;
  /** Throws E_SANDBOX_UNAVAILABLE for what it cannot enforce. Without `filterOf` it assembles its seccomp filters. */
  confine(request: SandboxRequest, probe: SandboxProbe, filterOf?: FilterSource): Promise<Confinement>;
}

/** Returns the seccomp filter for its rules, as bytes for the kernel. */
export type FilterSource = (rules: SeccompRules) => Promise<Uint8Array>;
