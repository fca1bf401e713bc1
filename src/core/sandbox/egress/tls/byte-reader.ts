import type { Duplex } from 'node:stream';

/** What a message has before its body ends: an empty line. */
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const LF = 10;
const CR = 13;

/** The other side sent something that is not a message of HTTP/1. */
export class MalformedMessage extends Error {}

/** Reads a connection on demand: while no caller reads, the other side waits. */
export class ByteReader {
  readonly #socket: Duplex;
  readonly #chunks: Buffer[] = [];
  #state: 'open' | 'ended' | 'broken' = 'open';
  #wake = () => {};

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      socket.pause();
      this.#wake();
    });
    socket.once('end', () => this.#close('ended'));
    socket.once('close', () => this.#close('broken'));
    socket.pause();
  }

  /** Whether the other side can send nothing more. */
  get isClosed(): boolean {
    return this.#state !== 'open' && this.#chunks.length === 0;
  }

  /** The next bytes; undefined at the end. Throws when the connection broke. */
  async read(): Promise<Buffer | undefined> {
    while (this.#chunks.length === 0) {
      if (this.#state === 'ended') return undefined;
      if (this.#state === 'broken') throw new Error('the connection was cut off');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#socket.resume();
      });
    }
    return this.#chunks.shift();
  }

  /** The bytes of the next head without its last empty line, one character each; undefined at the end. */
  async head(maxBytes: number): Promise<string | undefined> {
    const held = Buffer.alloc(maxBytes);
    let length = 0;
    for (;;) {
      const chunk = await this.read();
      if (chunk === undefined && length === 0) return undefined;
      if (chunk === undefined) throw new MalformedMessage('its head is incomplete');
      const taken = chunk.copy(held, length);
      const from = Math.max(0, length - END_OF_HEAD.length + 1);
      const end = held.subarray(0, length + taken).indexOf(END_OF_HEAD, from);
      if (end !== -1) {
        this.#unread(chunk.subarray(end + END_OF_HEAD.length - length));
        return held.toString('latin1', 0, end);
      }
      length += taken;
      if (length === maxBytes) throw new MalformedMessage(`its head has more than ${maxBytes} bytes`);
    }
  }

  /** The next line without its end. */
  async line(maxBytes: number): Promise<string> {
    let text = '';
    for (;;) {
      const chunk = await this.#expected();
      const end = chunk.indexOf(LF);
      text += chunk.toString('latin1', 0, end === -1 ? chunk.length : end + 1);
      if (text.length > maxBytes) throw new MalformedMessage('a line is too long');
      if (end === -1) continue;
      this.#unread(chunk.subarray(end + 1));
      if (text.charCodeAt(text.length - 2) !== CR)
        throw new MalformedMessage('a line does not end with CRLF');
      return text.slice(0, -2);
    }
  }

  /** Exactly this many bytes, as they arrive. */
  async *exactly(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      const chunk = await this.#expected();
      const piece = chunk.subarray(0, left);
      this.#unread(chunk.subarray(piece.length));
      left -= piece.length;
      yield piece;
    }
  }

  /** All that comes until the end. */
  async *rest(): AsyncGenerator<Buffer> {
    for (let chunk = await this.read(); chunk !== undefined; chunk = await this.read()) yield chunk;
  }

  async #expected(): Promise<Buffer> {
    const chunk = await this.read();
    if (chunk === undefined) throw new MalformedMessage('it is incomplete');
    return chunk;
  }

  #unread(bytes: Buffer): void {
    if (bytes.length > 0) this.#chunks.unshift(bytes);
  }

  #close(state: 'ended' | 'broken'): void {
    if (this.#state === 'open') this.#state = state;
    this.#wake();
  }
}
