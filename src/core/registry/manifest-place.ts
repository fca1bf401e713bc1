import { basename } from 'node:path';
import { isAdHoc } from '../../protocol/names.ts';
import type { ToolEntry } from './tool-entry.ts';

/** Where the manifest of a tool is, or where it would be, in words. */
export function manifestPlace({ name, entry, hasHeader }: ToolEntry): string {
  if (entry === null || !(hasHeader || isAdHoc(name))) return 'tool.yaml';
  const mark = /\.(?:[cm]?[jt]s|go|rs)$/.test(entry) ? '//' : '#';
  return `the header of ${basename(entry)} (lines that begin with "${mark} acor:")`;
}
