import type { Server } from 'node:net';

/** Takes over a listening socket that a child process has made, `place` being its number. True when it was the last one. */
export type TakeListener = (server: Server, place: number) => boolean;

/** Handles what a child says on its channel. Returns the word that lets it go on, once all its sockets have been taken. */
export function hearChild(take: TakeListener, message: unknown, handle: unknown): 'go' | undefined {
  const { place } = (message ?? {}) as { place?: unknown };
  if (typeof place !== 'number' || handle === undefined || handle === null) return undefined;
  return take(handle as Server, place) ? 'go' : undefined;
}
