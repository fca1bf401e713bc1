import { basename } from 'node:path';
import { isAdHoc } from '../../protocol/names.ts';
import { kindOfName } from '../../protocol/run.ts';
import type { ToolEntry } from './tool-entry.ts';

/** Where the manifest of a tool is, or where it would be, in words. */
export function manifestPlace({ name, entry, hasHeader }: ToolEntry): string {
  if (entry === null || !(hasHeader || isAdHoc(name))) return 'tool.yaml';
  const mark = /\.(?:[cm]?[jt]s|go|rs)$/.test(entry) ? '//' : '#';
  return `the header of ${basename(entry)} (lines that begin with "${mark} acor:")`;
}

/** The settings that stand for the permissions of a task, which has no manifest. */
const TASK_SETTINGS: Readonly<Record<string, string>> = {
  'permissions.network.egress_allow': 'task.hosts',
  'permissions.commands': 'task.commands',
  'permissions.filesystem.write': 'task.writes',
};

/** Where a line that allows something goes: into the manifest of the tool, or for a task into the configuration. */
export function placeOf(tool: ToolEntry, path: string): { file: string; path: string } {
  const setting = kindOfName(tool.name) === 'task' ? TASK_SETTINGS[path] : undefined;
  return setting === undefined
    ? { file: manifestPlace(tool), path }
    : { file: '.acor/config.yaml', path: setting };
}
