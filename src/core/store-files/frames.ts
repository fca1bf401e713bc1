import { createRequire } from 'node:module';
import type { deflateSync, inflateSync } from 'node:zlib';

interface Zlib {
  deflateSync: typeof deflateSync;
  inflateSync: typeof inflateSync;
}

let loaded: Zlib | undefined;

/** Loading zlib takes longer than most commands need, and only packs use it. */
function zlib(): Zlib {
  loaded ??= createRequire(import.meta.url)('node:zlib') as Zlib;
  return loaded;
}

/** A frame as it is stored: it has a checksum of its content. */
export function deflate(raw: Uint8Array): Buffer {
  return zlib().deflateSync(raw);
}

/** Throws when the frame was damaged, and when it inflates to more than `maxBytes`. */
export function inflate(frame: Uint8Array, maxBytes: number): Buffer {
  return zlib().inflateSync(frame, { maxOutputLength: maxBytes });
}
