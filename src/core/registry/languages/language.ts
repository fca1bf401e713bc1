import type { SdkPaths } from '../own-files.ts';

/** A file that may be the entry of a tool. */
export interface EntryFile {
  path: string;
  /** With the dot, in lower case; empty when there is none. */
  extension: string;
  executable: boolean;
  /** The interpreter in the first line (`#!/usr/bin/env python3` → `python3`), or null. */
  interpreter: string | null;
}

/** What a language may use to find its runtime. It starts nothing, except a Node that it asks for its version. */
export interface RuntimeContext {
  tool: string;
  entry: string;
  toolDir: string;
  /** The tools folder that contains the tool, if any. */
  toolsDir: string | null;
  /** The caller's environment. */
  env: Readonly<Record<string, string | undefined>>;
  sdk: SdkPaths;
}

/** The command that starts a tool, before the tool's own arguments. */
export interface ToolCommand {
  /** The first word is an absolute path. */
  argv: string[];
  runtime: string;
  env: Record<string, string>;
  /** The same up to the entry, for an interpreter that starts before its run and waits (`warm: true`). Absent where that is not possible. */
  warm?: readonly [string, ...string[]];
}

/** A language that tools are written in. To add one, create a file here and list it in `index.ts`. */
export interface Language {
  name: string;
  /** A file with one of these extensions is an entry even without the mode bit x. */
  extensions: readonly string[];
  detect(file: EntryFile): boolean | Promise<boolean>;
  /** The absolute path of the program that runs the entry. Throws E_RUNTIME_MISSING with how to install it. */
  runtime(context: RuntimeContext): string | Promise<string>;
  command(runtime: string, context: RuntimeContext): ToolCommand | Promise<ToolCommand>;
}
