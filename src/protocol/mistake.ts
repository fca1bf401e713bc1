/** A problem at a place of a file that concerns several keys. */
export interface Mistake {
  path: (string | number)[];
  rule: string;
  message: string;
  fix: string;
}
