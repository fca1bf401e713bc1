/** US dollars per million tokens; undefined is unknown. */
export interface Rates {
  input: number | undefined;
  output: number | undefined;
  cache_read?: number | undefined;
  cache_write?: number | undefined;
}
