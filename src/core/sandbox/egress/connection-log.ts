import { explainDenial, listEntry, type Remedy, remedySentence } from '../../policy/explain-denial.ts';
import type { EgressPlan } from './egress-plan.ts';
import { type Host, nameOf, withPort } from './host.ts';

/** Events about connections: one per kind, and sums at the end. */
export type EgressNote =
  | { kind: 'allowed'; msg: string; host: string; port: number; address: string; ends_tls?: true }
  | { kind: 'failed'; msg: string; host: string; port: number }
  | { kind: 'denied'; msg: string; host: string; port: number | null; address?: string; allow?: Remedy }
  | { kind: 'total'; msg: string; allowed: number; denied: number; failed: number; egress: EgressCount[] };

/** The connections, or the refused requests, of one kind. Bytes are counted from the tool's side: sent and received. */
export interface EgressCount {
  verdict: 'allowed' | 'failed' | 'denied';
  host: string;
  port: number | null;
  address?: string;
  /** Why a request was refused, where ACOR reads them. */
  request?: string;
  count: number;
  sent_bytes: number;
  received_bytes: number;
}

/** A tool can invent any number of hosts, so beyond this number of kinds only sums are kept. */
const MAX_KINDS = 100;

/** Why a connection was refused, and the setting that would allow it. */
export interface Refusal {
  host: string;
  port: number | null;
  why: string;
  address?: string;
  /** Why a request was refused, where ACOR reads them: each reason is a kind of its own. */
  request?: string;
  allow?: Remedy;
}

/** Counts a run's connections, and reports each kind once. */
export class EgressJournal {
  readonly #emit: (note: EgressNote) => void;
  readonly #kinds = new Map<string, EgressCount>();
  readonly #sums = { allowed: 0, denied: 0, failed: 0 };

  constructor(emit: (note: EgressNote) => void) {
    this.#emit = emit;
  }

  /** Returns the object that counts the bytes of the connection. */
  allowed(host: string, port: number, address: string, endsTls = false): EgressCount {
    const { count, isNew } = this.#count({ verdict: 'allowed', host, port, address });
    const how = endsTls ? '; ACOR reads the requests' : '';
    const msg = `network: connected to ${withPort(host, port)} (${address})${how}`;
    if (isNew) this.#emit({ kind: 'allowed', msg, host, port, address, ...(endsTls && { ends_tls: true }) });
    return count;
  }

  failed(host: string, port: number, why: string): void {
    const { isNew } = this.#count({ verdict: 'failed', host, port });
    const msg = `network: ${withPort(host, port)} could not be reached: ${why}`;
    if (isNew) this.#emit({ kind: 'failed', msg, host, port });
  }

  denied({ why, allow, request, ...where }: Refusal): void {
    const { isNew } = this.#count({ verdict: 'denied', ...where, ...(request && { request }) });
    const fix = allow === undefined ? '' : `. ${remedySentence(allow)}`;
    const at = where.port === null ? where.host : withPort(where.host, where.port);
    const what = request === undefined ? at : `a request to ${at}`;
    if (!isNew) return;
    this.#emit({
      kind: 'denied',
      msg: `network: ${what} was refused: ${why}${fix}`,
      ...where,
      ...(allow && { allow }),
    });
  }

  /** Reports the sums at the end of the run. */
  close(): void {
    const { allowed, denied, failed } = this.#sums;
    if (allowed + denied + failed === 0) return;
    const counts = `${allowed} connected, ${denied} refused, ${failed} failed`;
    this.#emit({
      kind: 'total',
      msg: `network: ${counts}`,
      ...this.#sums,
      egress: [...this.#kinds.values()],
    });
  }

  #count(kind: Omit<EgressCount, 'count' | 'sent_bytes' | 'received_bytes'>): {
    count: EgressCount;
    isNew: boolean;
  } {
    this.#sums[kind.verdict]++;
    const key = JSON.stringify([kind.verdict, kind.host, kind.port, kind.address, kind.request]);
    const known = this.#kinds.get(key);
    const count = known ?? { ...kind, count: 0, sent_bytes: 0, received_bytes: 0 };
    count.count++;
    const isNew = known === undefined && this.#kinds.size < MAX_KINDS;
    if (isNew) this.#kinds.set(key, count);
    return { count, isNew };
  }
}

/** The manifest line, or the flag of the call, that would allow a host and port. */
export function toAllow({ manifest }: EgressPlan, host: Host, port: number): Remedy {
  const remedy = explainDenial({ kind: 'host', host: nameOf(host), port });
  if (manifest === null)
    return { ...remedy, file: 'the call', path: '--net', line: withPort(nameOf(host), port) };
  return { ...remedy, ...manifest };
}

/** The configuration line that allows an address that is not public. */
export function inConfiguration(host: string, port: number): Remedy {
  return {
    file: '.acor/config.yaml',
    path: 'security.allow_private_egress',
    line: listEntry(withPort(host, port)),
  };
}
