/** A check of untrusted data by an untrusted schema or pattern that was ended, because it could go on without an end. */
export class TooCostly extends Error {
  static {
    Object.defineProperty(TooCostly, 'name', { value: 'TooCostly' });
  }
}
