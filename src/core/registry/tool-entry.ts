import type { Manifest } from '../../protocol/manifest.ts';
import type { Problem } from '../config/problem.ts';

/** A tool that discovery found. With problems it is listed, and cannot be run. */
export interface ToolEntry {
  name: string;
  /** The folder of the tool, or the folder in which its single file lies. */
  dir: string;
  /** The entry file, absolute; null for a tool that is a command. */
  entry: string | null;
  command: string[] | null;
  language: string;
  adapter: string;
  manifest: Manifest;
  manifestPath: string | null;
  problems: Problem[];
  /** The folder in which it works, when that is not its workspace: the files that it tells of are meant from there. */
  worksIn?: string;
  /** A folder that it keeps from run to run for itself alone: nobody else obeys what lies there. */
  home?: string;
  /** What plugins say of it. */
  notes?: string[];
}
