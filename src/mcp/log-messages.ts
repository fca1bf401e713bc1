import { LOG_LEVEL_META_KEY, type LoggingLevel, type ServerContext } from '@modelcontextprotocol/server';
import { rateLimit } from '../util/rate-limit.ts';
import { boundedText } from './bounded-text.ts';
import { eventsIn } from './events-in.ts';

/** The least severe level that a client wants; undefined when it wants no log messages. */
export type LogThreshold = LoggingLevel | undefined;

/** A log message of the protocol. */
interface LogMessage {
  level: LoggingLevel;
  logger: string;
  data: string;
}

const SEVERITIES: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];
const MAX_MESSAGE_CHARS = 2000;
const RATE = { perSecond: 20, burst: 100 };

/** What a request wants: since 2026-07-28 it says so itself, before that the session did (`logging/setLevel`). */
export function logThresholdOf({ mcpReq }: ServerContext, ofSession: LogThreshold): LogThreshold {
  const envelope: { [LOG_LEVEL_META_KEY]?: LoggingLevel } | undefined = mcpReq.envelope;
  return envelope === undefined ? ofSession : envelope[LOG_LEVEL_META_KEY];
}

/** Converts the `log` events of a run to log messages, at a limited rate. */
export class LogRelay {
  readonly #send: (message: LogMessage) => void;
  readonly #logger: string;
  readonly #threshold: number;
  readonly #rate = rateLimit(RATE);
  #omitted = 0;

  constructor(
    { tool, threshold }: { tool: string; threshold: LoggingLevel },
    send: (message: LogMessage) => void,
  ) {
    this.#logger = tool;
    this.#threshold = SEVERITIES.indexOf(threshold);
    this.#send = send;
  }

  emit(lines: Uint8Array): void {
    for (const { level: given, msg } of eventsIn(lines, ['log'])) {
      const level = levelOf(given);
      if (SEVERITIES.indexOf(level) < this.#threshold) continue;
      if (this.#rate.tryRemoveTokens(1)) this.#report(level, boundedText(String(msg), MAX_MESSAGE_CHARS));
      else this.#omitted++;
    }
  }

  /** Names how many messages the rate limit has left out. */
  end(): void {
    if (this.#omitted > 0)
      this.#report('notice', `${this.#omitted} more messages: acor_logs has all of them`);
    this.#omitted = 0;
  }

  #report(level: LoggingLevel, data: string): void {
    this.#send({ level, logger: this.#logger, data });
  }
}

function levelOf(given: unknown): LoggingLevel {
  if (given === 'warn') return 'warning';
  return SEVERITIES.find((each) => each === given) ?? 'info';
}
