import type { Socket } from 'node:net';

/** Bytes as the tool sees them, counted while they go. */
export interface TransferCounts {
  sent_bytes: number;
  received_bytes: number;
}

/**
 * Carries bytes between the tool and the host, each way until its own end: a side that has said all it has to say still gets the
 * answer. Neither side is read faster than the other side accepts.
 */
export function relay(inner: Socket, outer: Socket, carried: TransferCounts): void {
  endTogether(inner, outer);
  endTogether(outer, inner);
  inner.on('data', ({ length }) => {
    carried.sent_bytes += length;
  });
  outer.on('data', ({ length }) => {
    carried.received_bytes += length;
  });
  inner.pipe(outer);
  outer.pipe(inner);
}

/** A connection that was cut is cut on the other side, too: an end would make a half of an answer look like the whole. */
function endTogether(socket: Socket, other: Socket): void {
  // Whatever went wrong, `close` comes after it.
  socket.on('error', () => {});
  const onClose = () => {
    if (!socket.readableEnded || !socket.writableFinished) other.resetAndDestroy();
  };
  if (socket.destroyed) other.resetAndDestroy();
  else socket.once('close', onClose);
}
