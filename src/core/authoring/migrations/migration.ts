import type { Document } from 'yaml';

/** Converts a configuration file of one version to the next. Each migration is a file in this folder. */
export interface Migration {
  from: number;
  to: number;
  /** What changes, in one sentence. */
  summary: string;
  /** Changes the document in place and keeps the comments. */
  apply(document: Document, yaml: typeof import('yaml')): void;
}
