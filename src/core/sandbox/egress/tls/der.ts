/** The part of DER (X.690) that a certificate needs. Each function returns one encoded element. */

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(0x30, ...items);
}

export function setOf(item: Uint8Array): Buffer {
  return element(0x31, item);
}

/** A positive number from its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  // With its first bit set it would be negative.
  return element(0x02, (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]));
}

export const TRUE = Buffer.of(0x01, 0x01, 0xff);

/** From its dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

export function utf8String(text: string): Buffer {
  return element(0x0c, Buffer.from(text));
}

/** UTCTime, which certificates use up to 2049, and GeneralizedTime after it. */
export function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`;
  const isShort = date.getUTCFullYear() < 2050;
  return element(isShort ? 0x17 : 0x18, Buffer.from(isShort ? text.slice(2) : text));
}

/** `unused` of the last bits do not belong to it. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return element(0x03, Buffer.of(unused), bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(0x04, bytes);
}

/** A field with a number of its own, which holds other elements. */
export function explicit(number: number, item: Uint8Array): Buffer {
  return element(0xa0 | number, item);
}

/** A field with a number of its own, which holds bytes. */
export function implicit(number: number, bytes: Uint8Array): Buffer {
  return element(0x80 | number, bytes);
}

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  return [0x82, length >> 8, length & 0xff];
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}
