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
  /** Connects to an allowed host. */
  reach(host: Host, port: number): Promise<Reached>;
  /** Transfers the bytes of a connection until its end. */
  carry(inner: Socket, reached: Reached & { kind: 'connected' }): void;
}
