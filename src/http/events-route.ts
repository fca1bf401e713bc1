import { streamEvents } from '../operations/run/read-logs.ts';
import { LineReader } from '../protocol/jsonl.ts';
import { parseEvent } from '../protocol/parse-event.ts';
import { checkQuery } from './check-query.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { envelopeOf, failureMessage, lineOf, writeTo } from './reply.ts';

const KEEP_ALIVE_MS = 15_000;
const PARAMETERS = {
  since: { pattern: /^\d{1,15}$/, rule: 'the seq of an event, or 0' },
  follow: { pattern: /^(?:true|false)$/, rule: 'true or false' },
};

/**
 * The events of a run after a `seq`: JSON lines as they are stored, or server-sent events, whose id is the `seq`. The latter wait for
 * more until the run ends. A stream that ends before has a failed answer as its last line or message.
 */
export async function sendEvents(
  { req, res, url, host, open, signal }: Exchange,
  run: string,
): Promise<void> {
  checkQuery(url.searchParams, PARAMETERS);
  const isSse = /\btext\/event-stream\b/.test(req.headers.accept ?? '');
  const since = sinceOf(req.headers['last-event-id'] ?? url.searchParams.get('since') ?? '0');
  const follow = isSse || url.searchParams.get('follow') === 'true';
  const batches = await streamEvents(open.app, { run, since, follow }, signal);
  res.writeHead(200, {
    'Content-Type': isSse ? 'text/event-stream' : 'application/jsonl',
    'Cache-Control': 'no-store',
  });
  res.flushHeaders();
  const alive = isSse ? setInterval(() => res.write(':\n\n'), KEEP_ALIVE_MS) : undefined;
  try {
    for await (const lines of batches) if (!(await writeTo(res, isSse ? asSse(lines) : lines))) return;
    if (isSse) res.write('event: end\ndata: {}\n\n');
  } catch (error) {
    // The status was sent long ago, so the last line says why the stream ends.
    await writeTo(res, isSse ? failureMessage(host, error) : `${lineOf(envelopeOf(host, error))}\n`);
  } finally {
    clearInterval(alive);
    res.end();
  }
}

function sinceOf(given: string | string[]): number {
  if (/^\d{1,15}$/.test(String(given))) return Number(given);
  throw new HttpError(400, 'E_USAGE', 'since must be the seq of an event', {
    hint: 'Use the seq of the last event that you have, or 0.',
  });
}

function asSse(lines: Uint8Array): string {
  const parts: string[] = [];
  const reader = new LineReader((bytes, start, end) => {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    parts.push(`id: ${String(parseEvent(line).seq)}\ndata: ${line}\n\n`);
  }, lines.length);
  reader.push(lines);
  return parts.join('');
}
