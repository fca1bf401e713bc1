import type { Duplex } from 'node:stream';
import { type Field, valuesOf } from '../http-head.ts';
import { type ByteReader, MalformedMessage } from './byte-reader.ts';

const MAX_LINE_BYTES = 4096;
const MAX_TRAILER_LINES = 100;

/** How the end of a body is found (RFC 9112 §6). */
export type Framing =
  | { kind: 'none' }
  | { kind: 'length'; bytes: number }
  | { kind: 'chunked' }
  | { kind: 'until-close' };

/** The framing of a request, or of a response that has a body. Two programs must not be able to see different ends. */
export function framingOf(fields: readonly Field[], otherwise: 'none' | 'until-close'): Framing {
  const lengths = valuesOf(fields, 'content-length');
  const codings = valuesOf(fields, 'transfer-encoding');
  if (lengths.length + codings.length > 1) throw new MalformedMessage('it has more than one length header');
  const [coding] = codings;
  const [length] = lengths;
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new MalformedMessage(`its Transfer-Encoding is not 'chunked'`);
  if (coding !== undefined) return { kind: 'chunked' };
  if (length === undefined) return { kind: otherwise };
  if (!/^\d{1,15}$/.test(length)) throw new MalformedMessage('its Content-Length is not a number');
  return { kind: 'length', bytes: Number(length) };
}

/** The field that announces a framing. */
export function framingField(framing: Framing): Field[] {
  switch (framing.kind) {
    case 'length':
      return [['Content-Length', String(framing.bytes)]];
    case 'chunked':
      return [['Transfer-Encoding', 'chunked']];
    default:
      return [];
  }
}

/** The content of a body. Extensions of chunks and trailers are left out. */
export async function* readBody(reader: ByteReader, framing: Framing): AsyncGenerator<Buffer> {
  switch (framing.kind) {
    case 'none':
      return;
    case 'length':
      yield* reader.exactly(framing.bytes);
      return;
    case 'until-close':
      yield* reader.rest();
      return;
    case 'chunked':
      yield* readChunks(reader);
  }
}

/** Writes a body in the given framing. */
export async function writeBody(
  socket: Duplex,
  framing: Framing,
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const isChunked = framing.kind === 'chunked';
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
    await write(socket, piece);
    if (isChunked) socket.write('\r\n', 'latin1');
  }
  if (isChunked) await write(socket, Buffer.from('0\r\n\r\n'));
}

/** Writes, and waits while the other side does not read. */
export async function write(socket: Duplex, bytes: Buffer): Promise<void> {
  if (socket.destroyed) throw new Error('the connection is closed');
  if (socket.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}

async function* readChunks(reader: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const [, digits] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(await reader.line(MAX_LINE_BYTES)) ?? [];
    if (digits === undefined) throw new MalformedMessage('a chunk has no length');
    const bytes = Number.parseInt(digits, 16);
    if (bytes === 0) break;
    yield* reader.exactly(bytes);
    if ((await reader.line(MAX_LINE_BYTES)) !== '')
      throw new MalformedMessage('a chunk is longer than its length');
  }
  for (let count = 0; (await reader.line(MAX_LINE_BYTES)) !== ''; count++) {
    if (count === MAX_TRAILER_LINES) throw new MalformedMessage('it has too many trailers');
  }
}
