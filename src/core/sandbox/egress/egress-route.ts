import type { Socket } from 'node:net';
import type { EgressCount, EgressJournal, Refusal } from './connection-log.ts';
import type { EgressPlan } from './egress-plan.ts';
import type { Host } from './host.ts';
import type { EgressLayout } from './layout.ts';

/** The result of an allowed connection, which is already reported. */
export type Reached =
  | { kind: 'connected'; outer: Socket; count: EgressCount }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'failed'; why: string };

/** What the listeners in a tool's network use. */
export interface WayOut {
  plan: EgressPlan;
  layout: EgressLayout;
  journal: EgressJournal;
  /** Whether a rule covers a host, or the answer to a question opens it. */
  allows(host: Host, port: number): Promise<boolean>;
  /** Connects to an allowed host. */
  reach(host: Host, port: number): Promise<Reached>;
  /** Whether the TLS of connections to this host ends in the gateway. */
  endsTls(host: Host, port: number): boolean;
  /** Serves a connection to such a host until its end. */
  serveTls(inner: Socket, host: Host, port: number): void;
  /** Transfers the bytes of a connection until its end. */
  carry(inner: Socket, reached: Reached & { kind: 'connected' }): void;
}

/** Bytes from the tool's point of view, counted during the transfer. */
interface TransferCounts {
  sent_bytes: number;
  received_bytes: number;
}

/**
 * Transfers bytes between the tool and the host. Each direction ends separately, so a side that has sent everything
 * still gets the answer. Backpressure: neither side is read faster than the other accepts.
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

/** Reset the other side too: a normal end would make a truncated answer look complete. */
function endTogether(socket: Socket, other: Socket): void {
  // `close` always follows an error.
  socket.on('error', () => {});
  const onClose = () => {
    if (!socket.readableEnded || !socket.writableFinished) other.resetAndDestroy();
  };
  if (socket.destroyed) other.resetAndDestroy();
  else socket.once('close', onClose);
}
