import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import type { Intake } from '../run/attempt/intake.ts';
import { isOkExit } from '../run/outcome.ts';
import { AgentText } from './agent-text.ts';
import { FileClaims } from './file-claims.ts';
import { inShort, readTypedObject, type TypedObject, textOf } from './json-object.ts';
import { blockedError, MarkerEvents } from './marker-events.ts';
import { keepSession } from './session-file.ts';

/** Parses one agent's stream. Each attempt gets a new instance. */
export interface Dialect {
  /** Emits what an event of the stream means; false for an unknown event, which is kept unchanged. */
  read(event: TypedObject, stream: AgentStream): boolean;
  /** The agent's input that answers a question; undefined when the dialect has no such question. */
  answer?(actionId: string, answer: unknown): string | undefined;
}

/** An agent that opens a session for each message is not followed into it. */
const MAX_SESSIONS = 100;

/** How the agent reports its end. */
export type Verdict =
  | { ok: true; output?: string; data?: Record<string, unknown> }
  | { ok: false; code?: string; msg: string; data?: Record<string, unknown> };

/** The adapter of an agent: its name, its dialect, and how it accepts answers. */
export function agentAdapter(
  agent: string,
  dialect: (context: AdapterContext) => Dialect,
  options: Pick<AdapterKind, 'readsNoAnswers'> = {},
): AdapterKind {
  return { make: (context) => new AgentStream(agent, dialect(context), context), ...options };
}

/**
 * Converts an agent's own JSON stream (contract §8) to protocol events. Only its final message and its exit end the
 * run.
 */
export class AgentStream implements Adapter {
  readonly claims: FileClaims;
  readonly #agent: string;
  readonly #dialect: Dialect;
  readonly #context: AdapterContext;
  readonly #intake: Intake;
  readonly #markers: MarkerEvents;
  readonly #text: AgentText;
  #sessionId: string | undefined;
  #sessions = 0;
  #steps = 0;
  #lastProblem: string | undefined;
  #model: string | undefined;
  #metrics: Record<string, number> = {};
  #verdict: Verdict | undefined;

  constructor(agent: string, dialect: Dialect, context: AdapterContext) {
    this.#agent = agent;
    this.#dialect = dialect;
    this.#context = context;
    this.#intake = context.intake;
    this.claims = new FileClaims(context);
    this.#markers = new MarkerEvents(context, this.claims);
    this.#text = new AgentText({
      marker: (marker) => this.#markers.take(marker),
      text: (text) => this.note('info', text, { source: agent }),
    });
  }

  get files() {
    return this.claims.measured;
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const event = readTypedObject(this.#intake, bytes, start, end, cut);
    if (event !== undefined && !this.#dialect.read(event, this))
      this.note('debug', `${this.#agent}: ${kindOf(event)}`, { event });
  }

  answer(line: string): string {
    const { action_id: actionId, answer } = JSON.parse(line);
    this.#markers.answered(actionId);
    return this.#dialect.answer?.(actionId, answer) ?? line;
  }

  settle(): Promise<void> {
    this.#text.end();
    return this.claims.settle();
  }

  end(rc: number | null): void {
    const message = this.#lastMessage(rc);
    if (message === undefined) return;
    const session = this.#sessionId === undefined ? {} : { session_id: this.#sessionId };
    const hasMetrics = Object.keys(this.#metrics).length > 0;
    this.#intake.accept({
      ...message,
      ...session,
      ...(hasMetrics && { metrics: this.#withModel(this.#metrics) }),
    });
  }

  /** The agent has started or resumed a conversation with this id. */
  session(id: unknown, more: Record<string, unknown> = {}): void {
    this.uses(more['model']);
    if (typeof id !== 'string' || id === '' || id === this.#sessionId) return;
    if (this.#sessionId === undefined)
      this.#intake.accept({ type: 'start', step: this.#agent, session_id: id, ...more });
    else this.note('info', `${this.#agent} continues in the session ${id}`, { session_id: id });
    this.#sessionId = id;
    if (this.#sessions < MAX_SESSIONS)
      keepSession(this.#context, { agent: this.#agent, session_id: id, version: ++this.#sessions });
  }

  /** A part of the agent's text. `isWhole` marks the last part. */
  say(text: unknown, isWhole: boolean): void {
    if (typeof text === 'string') this.#text.push(text);
    if (isWhole) this.silence();
  }

  /** The agent does something else, so its text is complete. */
  silence(): void {
    this.#text.end();
  }

  /** The agent has started an action. The remaining work is unknown, so there is no percentage. */
  step(step: string, msg: string, more: Record<string, unknown> = {}): void {
    this.silence();
    this.#intake.accept({ type: 'progress', step, msg, steps: ++this.#steps, ...more });
  }

  alive(step: string): void {
    this.#intake.accept({ type: 'heartbeat', step });
  }

  note(level: 'debug' | 'info' | 'warn', msg: string, more: Record<string, unknown> = {}): void {
    this.#intake.accept({ type: 'log', level, msg, ...more });
  }

  /** An error from which the agent may recover. */
  problem(msg: unknown): void {
    this.#lastProblem = textOf(msg) ?? 'an error without a word';
    this.note('warn', this.#lastProblem, { source: this.#agent });
  }

  ask(question: { action: string; action_id: string; [field: string]: unknown }): void {
    this.silence();
    this.#intake.accept({ type: 'action_required', ...question, blocking: true });
  }

  /** Writes a line to the agent's standard input. */
  send(line: string): void {
    this.#context.send(line);
  }

  /** The model of the agent, which decides on the price of its tokens. */
  uses(model: unknown): void {
    if (typeof model === 'string' && model !== '') this.#model = model;
  }

  /** The tokens so far, which no event reports. */
  spends(metrics: Record<string, number>): void {
    this.#intake.spends(this.#withModel(metrics));
  }

  /** Metrics of the whole attempt. */
  measure(metrics: Record<string, number>): void {
    Object.assign(this.#metrics, metrics);
  }

  /** The agent's final message. It is only emitted when the program exits, because a later message may replace it. */
  conclude(verdict: Verdict): void {
    this.silence();
    this.#verdict = verdict;
    this.#context.onLastMessage();
  }

  #lastMessage(rc: number | null): ({ type: string } & Record<string, unknown>) | undefined {
    const verdict = this.#verdict;
    const files = this.claims.verified.length > 0 ? { files: this.claims.verified } : {};
    if (verdict === undefined) return rc === null ? undefined : this.#cutShort(rc);
    if (!verdict.ok) {
      const data = { ...verdict.data, ...files };
      return { type: 'error', code: verdict.code ?? 'E_TOOL_FAILED', msg: verdict.msg, data };
    }
    const { blocked } = this.#markers;
    if (blocked !== undefined)
      return blockedError(blocked, this.#sessionId === undefined ? '' : ': it can go on in its session');
    const output = verdict.output ?? this.#text.lastSaid;
    return { type: 'result', status: 'ok', data: { output, ...verdict.data, ...files } };
  }

  #withModel(metrics: Record<string, number>): Record<string, unknown> {
    const model = this.#model ?? this.#context.model;
    return model === undefined ? metrics : { model, ...metrics };
  }

  /** A stream without a final message was cut off, whatever the exit code. */
  #cutShort(rc: number): { type: string } & Record<string, unknown> {
    const why = this.#lastProblem === undefined ? '' : `: ${this.#lastProblem}`;
    const isOk = isOkExit(rc, this.#context.plan.tool.manifest.exit_codes);
    return isOk
      ? {
          type: 'error',
          code: 'E_NO_RESULT',
          msg: `the stream of ${this.#agent} ended without its last word${why}`,
          hint: `Read logs/stderr.log of the run, and check that the program writes the stream that adapter: ${this.#agent} expects.`,
        }
      : { type: 'error', code: 'E_TOOL_FAILED', msg: `${this.#agent} ended with exit code ${rc}${why}` };
  }
}

/** The type of an event, with its subtype: `system` alone says nothing. */
function kindOf({ type, subtype }: TypedObject): string {
  return typeof subtype === 'string' ? `${type} ${inShort(subtype)}` : type;
}
