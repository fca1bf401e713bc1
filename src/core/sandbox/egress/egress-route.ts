import type { Socket } from 'node:net';
import type { EgressCount, EgressJournal, Refusal } from './connection-log.ts';
import type { EgressPlan } from './egress-plan.ts';
import type { Host } from './host.ts';
import type { EgressLayout } from './layout.ts';

/** The result of a connection that the rules allow; it is reported already. */
export type Reached =
  | { kind: 'connected'; outer: Socket; count: EgressCount }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'failed'; why: string };

/** What those who listen in a tool's network have to work with. */
export interface WayOut {
  plan: EgressPlan;
  layout: EgressLayout;
  journal: EgressJournal;
  /** Connects to a host that the rules allow. */
  reach(host: Host, port: number): Promise<Reached>;
  /** Carries the bytes of a connection until its end. */
  carry(inner: Socket, reached: Reached & { kind: 'connected' }): void;
}
