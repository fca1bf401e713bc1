import type { RunEvent } from '../../protocol/v1/runner-events.ts';
import type { EntryFile, ToolCommand } from '../registry/languages/language.ts';

/**
 * The default export of a plugin's file; its name is that of the file. Each plugin runs in a separate process and gets
 * copies, so changing them has no effect. A hook that fails or times out is reported in the run, which continues
 * without it.
 */
export interface Plugin {
  /**
   * Gets the discovered tools and returns those to offer, in any order. Each may have an added `note`, which
   * `acor list` and `acor describe` show. Returning nothing offers all of them.
   */
  onDiscovery?(tools: PluginTool[]): Returned<Pick<PluginTool, 'name' | 'note'>[]>;
  /** Gets the plan of a run, and may reject it or lower its limits. It cannot extend permissions. */
  onPreRun?(plan: PluginPlan): Returned<PluginVerdict>;
  /**
   * Gets each event of each run in order, after it was stored. The returned value is ignored; a promise is awaited
   * before the next event.
   */
  onEvent?(event: RunEvent): unknown;
  /** Languages for tools, in addition to the built-in ones. */
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
  /** The entry, or the folder of a tool with a `command`. */
  path: string;
  has_manifest: boolean;
  broken: boolean;
  note?: string;
}

/** The plan of a run. Values of secret inputs and stored secrets are masked. */
export interface PluginPlan {
  tool: string;
  version: string | null;
  level: 'minimal' | 'standard' | 'privileged';
  effects: 'reads' | 'writes' | 'destroys' | null;
  args: string[];
  cwd: string;
  /** The calling agent, if it identified itself. */
  caller: string | null;
  /** Paths that the tool may access. */
  grants: { path: string; access: 'read' | 'write' }[];
  /** Hosts that it may access, as host:port. */
  hosts: string[];
  timeout_s: number;
  /** In bytes. */
  max_output_size: number;
  max_attempts: number;
}

/** The result of `onPreRun`: the reason of a rejection, or limits. Only limits lower than the plan's apply. */
export type PluginVerdict =
  | { veto: string }
  | { limits: Partial<Pick<PluginPlan, 'timeout_s' | 'max_output_size' | 'max_attempts'>> };

/**
 * One language. The first matching language of a file wins: built-in ones are first, directly executable files are
 * last.
 */
export interface LanguageHandler {
  name: string;
  /** With the dot, such as `.pl`: a file with one of them is an entry even without the mode bit x. */
  extensions?: string[];
  /** Whether a file without a known extension is of this language. */
  detect(file: EntryFile): boolean | Promise<boolean>;
  /** The absolute path of the program that runs the entry; undefined when it is not installed. */
  runtime(context: LanguageContext): Returned<string>;
  /**
   * The words before the tool's own arguments, starting with an absolute path, and environment variables for the tool.
   */
  command(runtime: string, context: LanguageContext): CommandWords | Promise<CommandWords>;
}

type CommandWords = Pick<ToolCommand, 'argv'> & Partial<Pick<ToolCommand, 'env'>>;

/** What a language may use to find its runtime. */
export interface LanguageContext {
  tool: string;
  entry: string;
  toolDir: string;
  /** The tools folder that contains the tool, if any. */
  toolsDir: string | null;
  /** Finds a program on the PATH. */
  findProgram(name: string): string | undefined;
}

type Returned<T> = T | null | undefined | Promise<T | null | undefined>;
