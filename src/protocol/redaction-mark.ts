const BEGINNING = '[redacted:';

/** What stands in a secret's place (contract §9); it may stand in a JSON string. */
export function redactionMark(name: string): string {
  return `${BEGINNING}${name}]`;
}

/** Whether a secret was taken out of a JSON value, or somebody has written it so: the value is not to be used as the original. */
export function holdsRedaction(value: unknown): boolean {
  return JSON.stringify(value)?.includes(BEGINNING) ?? false;
}
