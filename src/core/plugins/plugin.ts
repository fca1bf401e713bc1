import type { RunEvent } from '../../protocol/v1/run-event.ts';
import type { EntryFile, ToolCommand } from '../registry/languages/language.ts';

/**
 * What a plugin's file exports by default; its name is that of the file. Each plugin runs in a process of its own, and gets copies: what
 * it does to them changes nothing. A hook that fails, or takes too long, is reported in the run, which continues without it.
 */
export interface Plugin {
  /**
   * Is shown the tools that were found, and returns those that are to be offered, in any order; each may have a `note` added, which
   * `acor list` and `acor describe` show. Nothing returned: all of them.
   */
  onDiscovery?(tools: PluginTool[]): Returned<Pick<PluginTool, 'name' | 'note'>[]>;
  /** Is shown what is about to run, and may refuse it or lower its limits. It cannot widen anything. */
  onPreRun?(plan: PluginPlan): Returned<PluginVerdict>;
  /** Is shown each event of each run, in order, after it was stored. What it returns does not matter; a promise is waited for before the next one. */
  onEvent?(event: RunEvent): unknown;
  /** Languages that tools may be written in, beside those of ACOR. */
  languages?: LanguageHandler[];
}

/** A tool as a plugin sees it. */
export interface PluginTool {
  name: string;
  version: string;
  description: string;
  category: string | null;
  language: string;
  level: 'minimal' | 'standard' | 'privileged';
  /** The entry, or the folder of a tool that is a command. */
  path: string;
  has_manifest: boolean;
  broken: boolean;
  note?: string;
}

/** What is about to run. Values of secret inputs are masked, and so are stored secrets. */
export interface PluginPlan {
  tool: string;
  version: string | null;
  level: 'minimal' | 'standard' | 'privileged';
  effects: 'reads' | 'writes' | 'destroys' | null;
  args: string[];
  cwd: string;
  /** The agent that calls, where one showed itself. */
  caller: string | null;
  /** Paths that the tool is given. */
  grants: { path: string; access: 'read' | 'write' }[];
  /** Hosts that it may reach, as host:port. */
  hosts: string[];
  timeout_s: number;
  /** In bytes. */
  max_output_size: number;
  max_attempts: number;
}

/** What `onPreRun` may say: the reason of a refusal, or limits, of which those that are lower than the plan's count. */
export type PluginVerdict =
  | { veto: string }
  | { limits: Partial<Pick<PluginPlan, 'timeout_s' | 'max_output_size' | 'max_attempts'>> };

/** One language. A file is of the first language that takes it: ACOR's own come first, what starts by itself comes last. */
export interface LanguageHandler {
  name: string;
  /** With the dot, such as `.pl`: a file with one of them is an entry even without the mode bit. */
  extensions?: string[];
  /** Whether a file with none of the known extensions is of this language. */
  detect(file: EntryFile): boolean | Promise<boolean>;
  /** The absolute path of the program that runs the entry; nothing when this machine has none. */
  runtime(context: LanguageContext): Returned<string>;
  /** The words before the tool's own arguments, the first one an absolute path, and variables for the tool. */
  command(runtime: string, context: LanguageContext): CommandWords | Promise<CommandWords>;
}

type CommandWords = Pick<ToolCommand, 'argv'> & Partial<Pick<ToolCommand, 'env'>>;

/** What a language may look at to find its runtime. */
export interface LanguageContext {
  tool: string;
  entry: string;
  toolDir: string;
  /** The tools folder in which the tool lies, if it lies in one. */
  toolsDir: string | null;
  /** Finds a program on the PATH. */
  findProgram(name: string): string | undefined;
}

type Returned<T> = T | null | undefined | Promise<T | null | undefined>;
