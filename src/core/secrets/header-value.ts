import { coreOf } from './secret.ts';

const BASIC = /^Basic (.*:.*)$/is;

/**
 * The text of a header that holds a secret; undefined when a header cannot hold it. `{}` in the format is the value,
 * without surrounding white space. The credentials of `Basic user:{}` are encoded (RFC 7617); without that they would
 * hold a colon, which the encoded form never does.
 */
export function headerValue(format: string, secret: Buffer): string | undefined {
  const value = coreOf(secret).toString('latin1');
  const credentials = BASIC.exec(format)?.[1];
  if (credentials !== undefined)
    return `Basic ${Buffer.from(
      credentials.replace('{}', () => value),
      'latin1',
    ).toString('base64')}`;
  return /^[!-~]+(?: [!-~]+)*$/.test(value) ? format.replace('{}', () => value) : undefined;
}
