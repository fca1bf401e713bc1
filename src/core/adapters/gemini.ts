import { actionWords } from './action-words.ts';
import { type AgentStream, agentAdapter } from './agent-stream.ts';
import { inShort, recordOf, type TypedObject, textOf } from './json-object.ts';
import { geminiModel, geminiUsage } from './token-usage.ts';

/**
 * `gemini --output-format stream-json`. It reads an open standard input as part of its prompt, so it cannot read
 * answers.
 */
export const GEMINI = agentAdapter('gemini', () => ({ read }), { readsNoAnswers: true });

function read(event: TypedObject, stream: AgentStream): boolean {
  switch (event.type) {
    case 'init':
      stream.session(event.session_id, { model: event.model });
      return true;
    case 'message':
      // The stream repeats the prompt as a message of the user.
      if (event.role !== 'assistant') return false;
      stream.say(event.content, event.delta !== true);
      return true;
    case 'tool_use':
      stream.step(inShort(event.tool_name), actionWords(event.parameters), {
        tool_id: event.tool_id,
        input: event.parameters,
      });
      return true;
    case 'tool_result': {
      const { tool_id, status, error } = event;
      const isError = status === 'error';
      const msg = isError ? (textOf(recordOf(error).message) ?? 'the tool failed') : inShort(event.output);
      stream.note(isError ? 'warn' : 'debug', msg, { source: 'tool_result', tool_id, status });
      return true;
    }
    case 'error':
      stream.problem(event.message);
      return true;
    case 'result': {
      const { duration_ms, ...figures } = geminiUsage(event.stats);
      stream.uses(geminiModel(event.stats));
      stream.measure({ ...figures, ...(duration_ms !== undefined && { duration_s: duration_ms / 1000 }) });
      const error = recordOf(event.error);
      if (event.status === 'success' && event.error === undefined) stream.conclude({ ok: true });
      else {
        const msg = textOf(error.message) ?? `it ended with the status '${inShort(event.status)}'`;
        stream.conclude({ ok: false, msg, data: { status: event.status, error: event.error } });
      }
      return true;
    }
    default:
      return false;
  }
}
