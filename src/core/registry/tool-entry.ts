import type { Manifest } from '../../protocol/manifest.ts';
import type { Problem } from '../config/problem.ts';
import type { MissingPermission } from './missing-permission.ts';

/** A discovered tool. A tool with problems is listed but cannot run. */
export interface ToolEntry {
  name: string;
  /** The folder of the tool, or the folder that contains its single file. */
  dir: string;
  /** The entry file, absolute; null for a tool with a `command`. */
  entry: string | null;
  command: string[] | null;
  language: string;
  adapter: string;
  manifest: Manifest;
  manifestPath: string | null;
  /** The symlink in the tools folder that leads to it. */
  link?: string;
  problems: Problem[];
  /** The manifest is in the comments at the top of the entry. */
  hasHeader?: true;
  /** How many of the first arguments are for ACOR: the grants of `acor exec`. */
  ownWords?: number;
  /** All its commands are those of `acor exec --cmd`: a shell keeps its utilities beside them. */
  addsCommands?: true;
  /** The program gets the standard input of its caller: `acor exec --read -`. */
  readsStdin?: true;
  /** Where `acor exec` starts the program, when that is not the workspace. */
  startsIn?: string;
  /** The absolute paths that `acor exec` lets the program write and its arguments name: ACOR stages them. */
  outputs?: readonly string[];
  /** The paths of `--read` and `--write` outside of the roots, which are asked for. */
  missing?: readonly MissingPermission[];
  /** The working directory, when it is not the workspace. Relative paths in the tool's events start there. */
  worksIn?: string;
  /** The folder of the workspace for its new files at the top of `worksIn`, which are moved there after each attempt. */
  newFilesIn?: string;
  /** A persistent folder for this tool alone. No other program executes or reads its content. */
  home?: string;
  /** What plugins add to it. */
  notes?: string[];
}
