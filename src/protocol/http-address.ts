import * as z from 'zod';

/** An address of HTTP or HTTPS. Without the format `uri` in its schema, which validators without formats refuse. */
export const httpAddress = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '';
}, 'must be an address that begins with https:// or http://');
