import { parse } from 'node:path';
import type { Language } from './languages/language.ts';

/** A possible tool: its place, and the registry folders with its name. */
export interface Candidate {
  path: string;
  name: string;
  kind: 'folder' | 'file' | 'link';
  /** The real folder that must contain it. */
  root: string;
  registryFolders: readonly string[];
  /** The languages that tools here may use. */
  languages: readonly Language[];
  /** In a registry, only a manifest makes a folder a tool. */
  needsManifest?: boolean;
  /** The language from a configured pattern. */
  language?: string;
}

/** The name of a single-file tool: the file name without its extension. */
export function stemOf(fileName: string): string {
  return parse(fileName).name;
}
