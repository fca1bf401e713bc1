import { basename } from 'node:path';

/** An artifact as the runner measured it. */
export interface Artifact {
  path: string;
  kind: 'file' | 'directory';
  size: number;
  sha256: string;
  media_type: string;
}

/** The address of an artifact: its number in the list of its run, from 1 on, and its name for people. */
export function artifactUri(runId: string, number: number, path: string): string {
  return `acor://runs/${runId}/artifacts/${number}/${encodeURIComponent(basename(path))}`;
}
