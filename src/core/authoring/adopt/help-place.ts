import type { Runtime } from '../../process/runtime.ts';
import type { ToolCommand } from '../../registry/command.ts';
import type { ChosenBackend } from '../../sandbox/choose.ts';

/** The program, and the environment in which it is asked for its help. */
export interface HelpPlace {
  runtime: Runtime;
  sandbox: ChosenBackend;
  /** The real path of the program, and the paths that it needs besides the base system. */
  program: string;
  folders: readonly string[];
  /** How the program is started, for a script that its language runs. */
  started?: StartedScript;
  path: string;
  hidden: readonly string[];
  deadlineMs: number;
  /** Calls the program in place of a sandbox of this place: each call of a migrated program is a run, with its own sandbox. */
  call?(args: readonly string[]): Promise<CalledProgram>;
}

/** What a program wrote, and how it ended. */
export interface CalledProgram {
  /** The arguments of the program. */
  args: readonly string[];
  stdout: string;
  stderr: string;
  /** Null when it did not start, was stopped, or a signal ended it. */
  rc: number | null;
  signal: string | null;
  /** Why it did not start, or did not exit by itself. */
  trouble: string | null;
}

/** A script as the tool that it becomes: its command, its language, and the folders of the SDKs. */
export interface StartedScript {
  command: ToolCommand;
  language: string;
  libraries: readonly string[];
}
