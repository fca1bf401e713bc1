import type { SdkPaths } from '../sdk-paths.ts';

/** A file that may be the entry of a tool. */
export interface EntryFile {
  path: string;
  /** With the dot, lower case; empty when there is none. */
  extension: string;
  executable: boolean;
  /** The program that the first line names (`#!/usr/bin/env python3` → `python3`), or null. */
  interpreter: string | null;
}

/** What a language may look at to find its runtime. Nothing is started. */
export interface RuntimeContext {
  tool: string;
  entry: string;
  toolDir: string;
  /** The tools folder in which the tool lies, if it lies in one. */
  toolsDir: string | null;
  /** The caller's environment. */
  env: Readonly<Record<string, string | undefined>>;
  sdk: SdkPaths;
}

/** How a tool is started: the program and what stands before the tool's own arguments. */
export interface ToolCommand {
  /** The first word is an absolute path. */
  argv: string[];
  runtime: string;
  env: Record<string, string>;
}

/** One language that tools are written in. A new one is a file here and a line in `index.ts`. */
export interface Language {
  name: string;
  /** A file with one of them is an entry even without the mode bit. */
  extensions: readonly string[];
  detect(file: EntryFile): boolean | Promise<boolean>;
  /** The absolute path of the program that runs the entry. Throws E_RUNTIME_MISSING with how to get it. */
  runtime(context: RuntimeContext): string | Promise<string>;
  command(runtime: string, context: RuntimeContext): ToolCommand | Promise<ToolCommand>;
}
