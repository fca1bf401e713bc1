import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:net';

/** Takes over a listening socket that a child process has made, `place` being its number. True when it was the last one. */
export type TakeListener = (server: Server, place: number) => boolean;

/** Takes over what a child hands over on its `ipc` stream, and lets it go on. */
export function listenTo(child: ChildProcess, take: TakeListener): void {
  child.on('message', (message, handle) => {
    const word = hearChild(take, message, handle);
    // A child that has ended meanwhile is told of by its exit.
    if (word !== undefined) child.send(word, () => {});
  });
}

/** Handles what a child says on its channel. Returns the word that lets it go on, once all its sockets have been taken. */
export function hearChild(take: TakeListener, message: unknown, handle: unknown): 'go' | undefined {
  const { place } = (message ?? {}) as { place?: unknown };
  if (typeof place !== 'number' || handle === undefined || handle === null) return undefined;
  return take(handle as Server, place) ? 'go' : undefined;
}
