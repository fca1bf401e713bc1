import type { IncomingMessage } from 'node:http';
import { parseObject } from '../util/parse-object.ts';
import { HttpError } from './http-error.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A client that sends slower than this holds a connection for nothing. */
const MAX_BODY_MS = 30_000;

/** The JSON object of a request; an empty body is an empty object. Throws for one that is too long, too slow, or no JSON object. */
export async function readBody(req: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(req);
  if (text === '') return {};
  // A form of another site can send other types without asking.
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? ''))
    throw new HttpError(415, 'E_USAGE', 'the body must be application/json', {
      hint: 'Send the input as a JSON object, with Content-Type: application/json.',
    });
  const body = parseObject(text);
  if (body !== undefined) return body;
  throw new HttpError(400, 'E_USAGE', 'the body is not a JSON object', {
    hint: 'Send the input as a JSON object.',
  });
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const slow = setTimeout(() => req.destroy(), MAX_BODY_MS);
  try {
    for await (const chunk of req) {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) throw tooLong();
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(slow);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLong(): HttpError {
  return new HttpError(413, 'E_USAGE', `the body is longer than ${MAX_BODY_BYTES} bytes`, {
    hint: 'Send less, or give a file by its path.',
  });
}
