import { Transform } from 'node:stream';

/** The longest line of a client: 10 MiB. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** The id of a request is in this many bytes at one of its ends, however long its parameters are. */
const ENDS_BYTES = 1024;

const ID = '"id"\\s*:\\s*(-?\\d+|"[^"\\\\]*")\\s*';
const MEMBER = '"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*';
const ID_AT_BEGINNING = new RegExp(`^\\s*\\{\\s*(?:${MEMBER},\\s*)*${ID}[,}]`);
const ID_AT_END = new RegExp(`,\\s*${ID}(?:,\\s*${MEMBER})*\\}\\s*$`);

/** What is done with the lines of a client. */
export interface LineReader {
  read(line: string): void;
  /** A line was longer than MAX_LINE_BYTES. `id` is that of its request, or null where it was not found. */
  tooLong(id: string | number | null): void;
}

/** Reads the input of a client line by line, and passes on only its end. A line that is too long is read to its end, and held nowhere. */
export function clientLines(reader: LineReader): Transform {
  let held: Buffer[] = [];
  let size = 0;
  const hold = (part: Buffer) => {
    held.push(part);
    size += part.length;
    if (size <= MAX_LINE_BYTES) return;
    const all = Buffer.concat(held);
    held = [Buffer.from(all.subarray(0, ENDS_BYTES)), Buffer.from(all.subarray(-ENDS_BYTES))];
  };
  const readHeld = () => {
    const line = Buffer.concat(held).toString('utf8');
    const isLong = size > MAX_LINE_BYTES;
    held = [];
    size = 0;
    if (isLong) reader.tooLong(idIn(line));
    else reader.read(line);
  };
  return new Transform({
    transform(chunk: Buffer, _, done) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        hold(chunk.subarray(from, end));
        readHeld();
        from = end + 1;
      }
      if (from < chunk.length) hold(chunk.subarray(from));
      done();
    },
  });
}

function idIn(ends: string): string | number | null {
  const id = (ID_AT_BEGINNING.exec(ends) ?? ID_AT_END.exec(ends))?.[1];
  return id === undefined ? null : JSON.parse(id);
}
