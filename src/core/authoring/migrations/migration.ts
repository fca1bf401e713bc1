import type { Document } from 'yaml';

/** How a configuration file of one version becomes one of the next. A file in this folder each. */
export interface Migration {
  from: number;
  to: number;
  /** What is different, in one sentence. */
  summary: string;
  /** Changes the document in place; comments stay with what they are about. */
  apply(document: Document, yaml: typeof import('yaml')): void;
}
