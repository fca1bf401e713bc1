const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Parses a duration (contract §5) to seconds: `90`, `90s`, `5m`, `1h`, `2d`, `250ms`. */
export function parseDurationS(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * SECONDS[(match[2] ?? 's') as keyof typeof SECONDS];
}
