import { LineReader } from '../../../protocol/jsonl.ts';
import { parseObject } from '../../../util/parse-object.ts';
import type { RecordForm } from '../../ports/run-launcher.ts';

/**
 * Extracts the records from a run's events and writes them as JSON Lines. A plain program's line that is a JSON object is the record;
 * any other line becomes `{"line": …}`. Other tools send records in `log` messages. If a tool sent none, the data of its result are the
 * records: each element of a list, or the object itself.
 */
export class RecordReader {
  readonly #form: RecordForm;
  #hasSentRecord = false;

  constructor(form: RecordForm) {
    this.#form = form;
  }

  /** The records in a chunk of whole lines of the log. */
  read(lines: Uint8Array): Buffer {
    const records: string[] = [];
    const reader = new LineReader((bytes, start, end) => {
      const event = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString());
      for (const record of this.#form === 'lines' ? recordOfLine(event) : this.#recordsOf(event))
        records.push(record);
    }, lines.length);
    reader.push(lines);
    return Buffer.from(records.length === 0 ? '' : `${records.join('\n')}\n`);
  }

  #recordsOf({ type, record, data }: Readonly<Record<string, unknown>>): string[] {
    if (type === 'log' && isObject(record)) {
      this.#hasSentRecord = true;
      return [JSON.stringify(record)];
    }
    if (type !== 'result' || this.#hasSentRecord || data === undefined || data === null) return [];
    return (Array.isArray(data) ? data : [data]).map((each) =>
      JSON.stringify(isObject(each) ? each : { value: each }),
    );
  }
}

function recordOfLine({ type, msg, cut }: Readonly<Record<string, unknown>>): string[] {
  if (type !== 'log' || typeof msg !== 'string') return [];
  if (cut === true) return [JSON.stringify({ line: msg, cut })];
  const isRecord = msg.trimStart().startsWith('{') && parseObject(msg) !== undefined;
  return [isRecord ? msg : JSON.stringify({ line: msg })];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
