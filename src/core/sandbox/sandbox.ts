import type { PermissionLevel } from '../../protocol/manifest-permissions.ts';
import type { ResourceLimits } from '../../protocol/resource-limits.ts';
import type { Isolation } from '../../protocol/v1/runner-events.ts';
import type { Exit, SpawnRequest } from '../process/runtime.ts';
import type { EgressNote } from './egress/connection-log.ts';
import type { EgressPlan } from './egress/egress-plan.ts';
import type { SeccompRules } from './seccomp/filter.ts';

/** A path that a tool may reach. It is absolute and real. */
export interface PathGrant {
  path: string;
  access: 'read' | 'write';
}

/** The folders of a run, by what its tool may do with them. */
export interface RunFolders {
  /** WORKSPACE and ARTIFACTS_DIR and LOG_DIR: the tool writes here. */
  writable: readonly string[];
  /** The cancel file, the answers and the secrets: the tool reads them. */
  readable: readonly string[];
  work: string;
}

/** What a run needs of its sandbox. All paths are absolute. */
export interface SandboxRequest {
  runId: string;
  argv: readonly [string, ...string[]];
  level: PermissionLevel;
  /** The program that runs the tool, as it is called, and the language it runs: they decide which programs a tool has to have. */
  runtime: string;
  language: string;
  toolDir: string;
  folders: RunFolders;
  /** What else a tool reads, such as the SDKs. */
  libraries: readonly string[];
  /** Paths among the arguments, and those that the manifest names. */
  grants: readonly PathGrant[];
  /** Folders of ACOR's own, which no grant opens. */
  hidden: readonly string[];
  /** Programs beyond the runtime, by name; null when the manifest names none. */
  commands: readonly string[] | null;
  /** On which the names of programs are looked up. */
  path: string;
  /** `none` is no network at all, `listed` the hosts of `egress` and nothing else, `host` that of the machine. */
  network: 'none' | 'listed' | 'host';
  egress?: EgressPlan;
  limits: ResourceLimits;
}

/** Who the tool is to be, for a supervisor that is root. */
export interface RunUser {
  uid: number;
  gid: number;
}

/** The secrets of a tool, for a sandbox that makes a folder of its own for them. `open` gives a descriptor that holds the value, to be read once. */
export interface SecretFiles {
  folder: string;
  files: readonly { name: string; open(): number }[];
}

/** What is only there when the tool starts. */
export interface LaunchOptions {
  env: Readonly<Record<string, string>>;
  stdin?: number;
  stdout: number | 'pipe';
  stderr: number | 'pipe';
  /** Null leaves the tool the user that the supervisor is. */
  user: RunUser | null;
  /** A folder that no tool sees, for files that live for a moment. */
  scratch: string;
  /** Descriptors by which the tool joins groups of processes before it starts; they stay the caller's to close. */
  groups?: readonly number[];
  /** Only for a confinement that takes secrets. */
  secrets?: SecretFiles;
  /** Hears of the tool's connections, where the network is `listed`. */
  onEgress?(note: EgressNote): void;
}

/** A tool that is ready to be started. */
export interface SandboxLaunch {
  spawn: SpawnRequest;
  /** How many generations at the root of the process tree are the sandbox's own, and no part of the tool. */
  sandboxProcessDepth: number;
  /** The started process stands for a tool that is not below it: it hands signals on, and is asked alone. */
  isProxyProcess?: true;
  /** A command that ends the tool wherever it runs; the watchdog uses it when the supervisor is gone. */
  forceKillCommand?: readonly string[];
  /** Whether the tool itself has ended, while its sandbox still ends what it left behind. */
  hasEnded(): boolean;
  /** Call it with the exit of the started process: returns that of the tool, and how many processes the sandbox ended that it left. Throws when the sandbox failed. */
  settle(exit: Exit): { exit: Exit; left: number };
  /** Lets go of the descriptors, once the process has been started or could not be. */
  release(): void;
  /** Call it when all is over. */
  close(): void;
}

/** How a tool will be confined. Nothing has been started or written yet. */
export interface Confinement {
  isolation: Isolation;
  /** Whether the tool is given a user of its own. */
  changesUser: boolean;
  /** Whether secrets are passed by descriptor; otherwise they are files in the run's folder. */
  takesSecrets?: boolean;
  /** What the tool's environment needs on top, to find its way out. */
  env?: Readonly<Record<string, string>>;
  launch(options: LaunchOptions): SandboxLaunch;
}

/** One check of a backend, in the shape that `acor health` shows. */
export interface SandboxProbe {
  available: boolean;
  detail: string;
  /** A command or an edit that makes it available. */
  fix?: string;
  /** What was found out about the system, for the backend itself. */
  features?: Readonly<Record<string, string | number | boolean>>;
}

/** One way to confine a tool. Each is a file in `backends/` and passes the contract suite. */
export interface SandboxBackend {
  readonly name: string;
  /** 1 is the strongest; 3 is no boundary. */
  readonly tier: number;
  /** Whether it can open the network host by host; one that cannot is never asked to. */
  readonly opensHosts?: boolean;
  /** What else than the system its trial depends on. */
  readonly identity?: string;
  /** Tries it out on this machine. May take some milliseconds; what it finds is kept by `choose.ts`. */
  probe(): Promise<SandboxProbe>;
  /** Throws E_SANDBOX_UNAVAILABLE for what it cannot give. Without `filterOf` filters of system calls are assembled. */
  confine(request: SandboxRequest, probe: SandboxProbe, filterOf?: FilterSource): Promise<Confinement>;
}

/** Gives the filter of system calls for its rules, as bytes for the kernel. */
export type FilterSource = (rules: SeccompRules) => Promise<Uint8Array>;
