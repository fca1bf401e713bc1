/** How the log of a run holds its records: a plain program's lines each are one, all other tools hand them on in messages. */
export type RecordForm = 'lines' | 'messages';

/** The run whose records another one reads from its standard input. */
export interface RecordSource {
  run_id: string;
  form: RecordForm;
}
