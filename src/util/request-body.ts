import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** A client that sends its body slower than this holds a connection for nothing. */
export const MAX_BODY_MS = 30_000;

/** What is wrong with a body, as the status of the answer. */
export class BodyError extends Error {
  readonly status: 400 | 408 | 413;

  constructor(status: BodyError['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The body of a request as text. Throws BodyError for one that is too long, not complete in time, or not UTF-8. The request is left open after the limit, because it
 * takes the answer with it.
 */
export async function readBody(
  req: IncomingMessage,
  { maxBytes, maxMs }: { maxBytes: number; maxMs: number },
): Promise<string> {
  const late = Promise.withResolvers<never>();
  const why = `the body was not complete after ${maxMs / 1000} s`;
  const timer = setTimeout(() => late.reject(new BodyError(408, why)), maxMs);
  try {
    return textOf(await Promise.race([readWhole(req, maxBytes), late.promise]));
  } finally {
    clearTimeout(timer);
  }
}

/** Decoding would put other characters in place of the bytes that are no text. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return text;
  const decoded = Buffer.from(text);
  const at = bytes.findIndex((byte, index) => byte !== decoded[index]);
  throw new BodyError(400, `the body is not UTF-8 at byte ${at}`);
}

async function readWhole(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req) {
    length += chunk.length;
    // The rest of a body that is too long is read and dropped: many clients read no answer before they have sent everything.
    if (length <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (length > maxBytes) throw new BodyError(413, `the body is longer than ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}
