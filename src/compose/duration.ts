const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;

export const UNIT_WORDS = { ms: 'milliseconds', s: 'seconds', m: 'minutes', h: 'hours', d: 'days' } as const;

export type DurationUnit = keyof typeof SECONDS;

/** Reads `90`, `90s`, `5m`, `1h`, `7d` in a unit, which is also that of a bare number. Undefined for any other text. */
export function readDuration(text: string, unit: DurationUnit): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  return (Number(match[1]) * SECONDS[match[2] as DurationUnit]) / SECONDS[unit];
}
