import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../util/regular-file.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { ToolEntry } from '../registry/registry.ts';

/** The beginning of an entry that is searched for a question. */
const MAX_BYTES = 65_536;
/** How the SDKs are called to ask. */
const CALLS_ASK = /\bask[ (<]/;

/**
 * Whether a run of the tool may wait for an answer: its manifest says so, its entry has a call that asks, or the run asks for hosts
 * (`security.on_denied`).
 */
export function toolMayAsk(
  { manifest, entry }: ToolEntry,
  { config }: Pick<LoadedConfig, 'config'>,
): boolean {
  const asksForHosts = config.security.on_denied === 'ask' && manifest.permissions.level !== 'privileged';
  if (manifest.actions.length > 0 || asksForHosts) return true;
  return manifest.adapter === 'jsonl' && entry !== null && hasQuestion(startOf(entry));
}

/**
 * A tool whose manifest forgets its actions must not hold its caller until the deadline. Only an SDK gets its answers without
 * them: a tool that reads them from its standard input finds that empty, and goes on.
 */
function hasQuestion(start: Buffer): boolean {
  return start.includes('ask') && start.includes('acor') && CALLS_ASK.test(start.toString('latin1'));
}

/** Empty where the file cannot be read: its start reports that. */
function startOf(path: string): Buffer {
  let fd: number | undefined;
  try {
    fd = openRegular(path);
    const buffer = Buffer.allocUnsafe(MAX_BYTES);
    return buffer.subarray(0, readSync(fd, buffer, 0, MAX_BYTES, 0));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Whether a tool reads the answers to its questions from its standard input. */
export function readsAnswers({
  plan,
  adapter,
}: {
  plan: { tool: ToolEntry };
  adapter: { readsNoAnswers?: boolean };
}): boolean {
  return plan.tool.manifest.actions.length > 0 && !adapter.readsNoAnswers;
}
