import { createRequire } from 'node:module';
import type { deflateSync, inflateSync } from 'node:zlib';
import { inflateInBun } from './inflate-bun.ts';

interface Zlib {
  deflateSync: typeof deflateSync;
  inflateSync: typeof inflateSync;
}

let loaded: Zlib | undefined;

/** Loading zlib takes 15 ms, and only packs use it. */
function zlib(): Zlib {
  loaded ??= createRequire(import.meta.url)('node:zlib') as Zlib;
  return loaded;
}

/** A frame as it is stored: it has a checksum of its content. */
export function deflate(raw: Uint8Array): Buffer {
  return zlib().deflateSync(raw);
}

/** The content of a frame. Throws when the frame was damaged. */
export function inflate(frame: Uint8Array): Buffer {
  return process.versions.bun === undefined ? zlib().inflateSync(frame) : inflateInBun(frame);
}
