import { parse } from 'node:path';
import type { Language } from './languages/language.ts';

/** Something that may be a tool: where it is, and the folders in the registries that carry its name. */
export interface Candidate {
  path: string;
  name: string;
  kind: 'folder' | 'file' | 'link';
  /** The real folder that it may not leave. */
  root: string;
  registryFolders: readonly string[];
  /** Those that a tool may be written in here. */
  languages: readonly Language[];
  /** A folder of a registry is a tool by its manifest alone. */
  needsManifest?: boolean;
  /** Said by a pattern of the configuration. */
  language?: string;
}

/** The name of a single-file tool: the file's, without its extension. */
export function stemOf(fileName: string): string {
  return parse(fileName).name;
}
