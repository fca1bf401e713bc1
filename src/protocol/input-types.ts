export const INPUT_TYPES = ['string', 'int', 'number', 'bool', 'path', 'json', 'duration', 'url'] as const;

export type InputType = (typeof INPUT_TYPES)[number];

/** The form of an input's name: it becomes a flag, and the name of a folder. */
export const INPUT_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

export const INPUT_NAME_RULE = 'must start with a letter, then letters, digits, _ or -';

/** Whether a JSON or YAML value has an input's type; bounds are checked elsewhere. */
export function isOfType(type: InputType, value: unknown): boolean {
  switch (type) {
    case 'string':
    case 'path':
      return typeof value === 'string';
    case 'url':
      return typeof value === 'string' && URL.canParse(value);
    case 'int':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'json':
      return value !== undefined;
    case 'duration':
      return typeof value === 'string'
        ? parseDurationS(value) !== undefined
        : Number.isFinite(value) && Number(value) >= 0;
  }
}

/** The flag of an input (contract §5). */
export function flagOf(input: { name: string; flag?: string | undefined }): string {
  return input.flag ?? `--${input.name.replaceAll('_', '-')}`;
}

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Parses a duration (contract §5) to seconds: `90`, `90s`, `5m`, `1h`, `2d`, `250ms`. */
export function parseDurationS(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * SECONDS[(match[2] ?? 's') as keyof typeof SECONDS];
}
