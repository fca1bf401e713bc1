/** An event of a log. */
export type LogEvent = Readonly<Record<string, unknown>> & { type: string; seq: number };

/** What an event says, on one line. */
export function textOf(event: LogEvent): string {
  const text = (key: string) => (typeof event[key] === 'string' ? event[key] : '');
  switch (event.type) {
    case 'log':
    case 'runner_log':
    case 'runner_warning':
      return text('msg') + (text('line') === '' ? '' : ` ${text('line')}`);
    case 'diagnostic':
      return text('line');
    case 'progress':
      return [typeof event['pct'] === 'number' ? `${event['pct']} %` : '', text('step'), text('msg')]
        .filter(Boolean)
        .join(' · ');
    case 'runner_state':
      return `${text('from')} → ${text('to')} ${text('reason')}`;
    default: {
      const { v, ts, run_id, seq, type, trace_id, span_id, ...rest } = event;
      return JSON.stringify(rest);
    }
  }
}
