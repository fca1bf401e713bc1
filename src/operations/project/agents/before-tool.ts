import { realpathSync } from 'node:fs';
import { type DirectCall, findDirectCall } from '../../../core/authoring/agents/direct-call.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { AcorApp } from '../../acor-app.ts';
import type { HookAnswer, HookInput } from './hook-input.ts';

/** Denies a shell command that starts a tool without ACOR, when the project's `security.direct_calls` forbids it. */
export async function beforeTool(
  { tool_input, hook_event_name }: HookInput,
  app: AcorApp,
): Promise<HookAnswer> {
  const given = tool_input?.command;
  if (given === undefined) return undefined;
  const { config, registry } = await app.project();
  if (config.config.security.direct_calls === 'allow') return undefined;
  const entries = new Map<string, string>();
  for (const { entry, name } of await registry.list()) if (entry !== null) entries.set(realOf(entry), name);
  const command = typeof given === 'string' ? given : shellCommand(given);
  const call = findDirectCall(command, app.cwd, (path) => entries.get(realOf(path)));
  if (call === undefined) return undefined;
  const reason = `This project lets its tools run through ACOR only (security.direct_calls). ${insteadOf(call)}`;
  // Claude Code and Codex call the event PreToolUse; Codex takes no key beside these.
  if (hook_event_name === 'BeforeTool') return { decision: 'deny', reason };
  const decision = { permissionDecision: 'deny', permissionDecisionReason: reason };
  return { hookSpecificOutput: { hookEventName: hook_event_name, ...decision } };
}

/** A command that is copied must do what was meant: words that the shell computes are known only to the shell. */
function insteadOf({ tool, args, isLiteral }: DirectCall): string {
  const start = ['acor', 'run', tool];
  if (isLiteral) return `Instead: ${shellCommand([...start, ...args])}`;
  return `Instead, put ${shellCommand(start)} in place of what starts the tool, and leave its arguments as they are written.`;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
