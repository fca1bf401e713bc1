import { pipeline } from 'node:stream/promises';
import { safeLine } from '../compose/terminal-text.ts';
import type { Exchange } from './exchange.ts';
import { sendEnvelope } from './reply.ts';

const PART_BYTES = 1 << 20;

interface Part {
  path: string;
  media_type: string;
  size: number;
  from: number;
  bytes: number;
  encoding: 'utf8' | 'base64';
  content: string;
}

/** An artifact as a file to save. A tool wrote it: a browser never shows it, whatever its type is. */
export async function sendArtifact(exchange: Exchange, run: string, artifact: string): Promise<void> {
  const { res, open, signal } = exchange;
  const partFrom = (from: number) =>
    open.call('run.artifact', { run, artifact, from, bytes: PART_BYTES }, { signal });
  const first = await partFrom(0);
  if (!first.ok) return sendEnvelope(res, { ...first, meta: { ...first.meta, next: undefined } });
  const { path, size } = first.data as Part;
  // As RFC 8187 wants it, which escapes more. Marks that reorder text would show another ending of the name.
  const name = encodeURIComponent(safeLine(path.split('/').at(-1)!)).replace(/['()*]/g, hex);
  res.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename*=UTF-8''${name}`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Length': size,
    'Cache-Control': 'no-store',
  });
  await pipeline(async function* () {
    for (let part = first.data as Part; ; ) {
      yield Buffer.from(part.content, part.encoding);
      const next = part.from + part.bytes;
      if (next >= size) return;
      const more = await partFrom(next);
      if (!more.ok) throw new Error(more.error.message);
      part = more.data as Part;
    }
  }, res);
}

function hex(char: string): string {
  return `%${char.charCodeAt(0).toString(16)}`;
}
