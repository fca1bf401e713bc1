import type { FileChange } from '../../protocol/markers/marker.ts';
import { type AgentStream, agentAdapter } from './agent-stream.ts';
import { inShort, listOf, recordOf, type TypedObject, textOf } from './json-object.ts';
import { openaiUsage } from './token-usage.ts';

/** `codex exec --json`. It reads an open standard input as part of its prompt, so it cannot read answers. */
export const CODEX = agentAdapter('codex', () => ({ read }), { readsNoAnswers: true });

const CHANGES: ReadonlyMap<unknown, FileChange> = new Map([
  ['add', 'created'],
  ['update', 'modified'],
  ['delete', 'deleted'],
]);

function read(event: TypedObject, stream: AgentStream): boolean {
  switch (event.type) {
    case 'thread.started':
      stream.session(event.thread_id);
      return true;
    case 'turn.started':
      stream.alive('turn');
      return true;
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return readItem(event.type, recordOf(event.item), stream);
    case 'turn.completed':
      stream.measure(openaiUsage(event.usage));
      stream.conclude({ ok: true });
      return true;
    case 'turn.failed':
      stream.conclude({ ok: false, msg: textOf(recordOf(event.error).message) ?? 'the turn failed' });
      return true;
    case 'error':
      // Often temporary, such as a lost connection: only the turn and the exit decide.
      stream.problem(event.message);
      return true;
    default:
      return false;
  }
}

function readItem(phase: string, item: Readonly<Record<string, unknown>>, stream: AgentStream): boolean {
  const isDone = phase === 'item.completed';
  const type = textOf(item.type) ?? '';
  switch (type) {
    case 'agent_message':
      if (isDone) stream.say(item.text, true);
      else stream.alive(type);
      return true;
    case 'reasoning':
      if (isDone) stream.note('debug', textOf(item.text) ?? type, { source: type });
      else stream.alive(type);
      return true;
    case 'command_execution':
      if (phase === 'item.started') stream.step(type, inShort(item.command));
      else if (isDone) {
        const { command, exit_code, status } = item;
        stream.note('debug', `${inShort(command)}: ${inShort(status)}`, {
          source: type,
          command,
          exit_code,
          status,
        });
      } else stream.alive(type);
      return true;
    case 'file_change':
      if (isDone) readChanges(item, stream);
      else stream.alive(type);
      return true;
    case 'mcp_tool_call':
      if (phase === 'item.started') stream.step(type, `${inShort(item.server)}.${inShort(item.tool)}`);
      else if (isDone) {
        const { server, tool, status, error } = item;
        stream.note('debug', `${inShort(server)}.${inShort(tool)}: ${inShort(status)}`, {
          source: type,
          server,
          tool,
          status,
          error,
        });
      } else stream.alive(type);
      return true;
    case 'web_search':
      if (phase === 'item.started') stream.step(type, inShort(item.query));
      else stream.alive(type);
      return true;
    case 'todo_list':
      readPlan(item, stream);
      return true;
    case 'error':
      stream.problem(item.message);
      return true;
    default:
      return false;
  }
}

function readChanges({ changes, status }: Readonly<Record<string, unknown>>, stream: AgentStream): void {
  const files = listOf(changes).flatMap((each) => {
    const { path, kind } = recordOf(each);
    const name = textOf(path);
    return name === undefined ? [] : [{ path: name, change: CHANGES.get(kind) ?? null }];
  });
  // A patch that was not applied changed nothing.
  if (status !== 'failed') for (const { path, change } of files) stream.claims.add(path, change);
  stream.step('file_change', files.map(({ path }) => path).join(', '), { files, status });
}

/** The agent's own plan. The number of completed points says nothing about the remaining time. */
function readPlan({ items }: Readonly<Record<string, unknown>>, stream: AgentStream): void {
  const points = listOf(items).map(recordOf);
  const done = points.filter(({ completed }) => completed === true).length;
  const next = points.find(({ completed }) => completed !== true)?.text;
  stream.step('todo_list', `${done}/${points.length} done${next ? `; next: ${inShort(next)}` : ''}`, {
    done,
    total: points.length,
  });
}
