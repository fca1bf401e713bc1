import { safeText } from '../../compose/terminal-text.ts';

/** An event as one readable line, safe for a terminal; undefined for an event without information for a person. */
export function eventAsText(event: Readonly<Record<string, unknown>>): string | undefined {
  const time = String(event.ts).slice(11, 19);
  const body = bodyOf(event);
  return body === undefined ? undefined : safeText(`${time} ${body}`).replaceAll('\n', '\n         ');
}

function bodyOf(event: Readonly<Record<string, unknown>>): string | undefined {
  const { type } = event;
  switch (type) {
    case 'heartbeat':
      return undefined;
    case 'log':
      return `${event.level}: ${event.msg}`;
    case 'diagnostic':
      return `stderr: ${event.line}`;
    case 'progress':
      return ['progress:', event.step, event.pct === undefined ? undefined : `${event.pct}%`, event.msg]
        .filter(Boolean)
        .join(' ');
    case 'error':
    case 'runner_error':
      return `${event.code}: ${event.msg}${event.hint ? ` (${event.hint})` : ''}`;
    case 'runner_state':
      return `${event.from} → ${event.to}${event.reason ? ` (${event.reason})` : ''}`;
    case 'runner_end':
      return `end: ${event.state}${event.code ? ` ${event.code}` : ''}, ${event.duration_s} s`;
    default: {
      const {
        v: _v,
        ts: _ts,
        run_id: _run,
        seq: _seq,
        type: _type,
        trace_id: _trace,
        span_id: _span,
        ...rest
      } = event;
      return `${type}: ${JSON.stringify(rest)}`;
    }
  }
}
