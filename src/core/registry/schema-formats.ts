import { isIPv6 } from 'node:net';
import type { Format } from 'ajv';
import { regexes } from 'zod';
import { parseDurationS } from '../../protocol/input-types.ts';

const INSTANT = regexes.datetime({ offset: true });

/** The formats of a schema that are checked. `path` and `duration` are ACOR's own. */
export const FORMATS: Readonly<Record<string, Format>> = {
  date: regexes.date,
  'date-time': (text: string) => INSTANT.test(text.toUpperCase()),
  time: (text: string) => INSTANT.test(`2000-01-01T${text.toUpperCase()}`),
  duration: (text: string) => parseDurationS(text) !== undefined,
  email: regexes.html5Email,
  hostname: regexes.hostname,
  ipv4: regexes.ipv4,
  ipv6: isIPv6,
  uuid: regexes.guid,
  uri: (text: string) => URL.canParse(text),
  regex: isRegex,
  'json-pointer': /^(\/([^~/]|~[01])*)*$/,
  path: true,
};

function isRegex(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
