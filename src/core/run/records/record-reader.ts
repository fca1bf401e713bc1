import { LineReader } from '../../../protocol/jsonl.ts';
import { parseObject } from '../../../util/parse-object.ts';

/** How the log of a run holds its records: each line of a plain program is one, all other tools send them in messages. */
export type RecordForm = 'lines' | 'messages';

/** The run whose records another run reads from its standard input. */
export interface RecordSource {
  run_id: string;
  form: RecordForm;
}

/**
 * Takes the records out of a run's events, each a JSON object on a line of its own. A plain program's line that holds an object
 * is that object, any other line is `{"line": …}`. Other tools hand records on in `log` messages; of one that has handed on none,
 * the data of its result stand in for them: each element of a list, or the object itself.
 */
export class RecordReader {
  readonly #form: RecordForm;
  #hasSentRecord = false;

  constructor(form: RecordForm) {
    this.#form = form;
  }

  /** The records in a batch of whole lines of the log. */
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
