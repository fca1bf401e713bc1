import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { canonicalAddress, type Reach, reachOf } from './address.ts';
import { inConfiguration, type Refusal } from './connection-log.ts';
import type { EgressPlan } from './egress-plan.ts';
import { covers, type Host, nameOf } from './host.ts';

const TIMEOUT_MS = 10_000;
const MAX_ADDRESSES = 4;

/** The result of a connection attempt: a connection, a refusal by the rules, or a network failure. */
export type Dialled =
  | { kind: 'connected'; socket: Socket; address: string }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'failed'; why: string };

/** Resolves the addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * Connects to an allowed host. It resolves the name once, checks each address, and dials exactly the checked address,
 * so DNS rebinding has no effect.
 */
export async function dial(
  plan: EgressPlan,
  host: Host,
  port: number,
  { resolve = resolveBySystem, signal }: { resolve?: Resolve; signal: AbortSignal },
): Promise<Dialled> {
  const until = performance.now() + TIMEOUT_MS;
  let found: readonly string[];
  try {
    found = await withTimeout(addressesOf(plan, host, resolve), TIMEOUT_MS);
  } catch (error) {
    return { kind: 'failed', why: errorCode(error) ?? errorMessage(error) };
  }
  const own = ownAddresses();
  const checked = found.map((address) => ({ address, reach: reachOf(address, own) }));
  const open = checked.filter(({ address, reach }) => isOpen(plan, host, port, address, reach));
  const [first] = checked;
  if (open.length === 0) {
    if (first === undefined) return { kind: 'failed', why: 'the name has no address' };
    return { kind: 'refused', refusal: refusal(host, port, first) };
  }
  let why = '';
  for (const { address } of open.slice(0, MAX_ADDRESSES)) {
    const leftMs = until - performance.now();
    if (leftMs <= 0 || signal.aborted) break;
    try {
      return { kind: 'connected', socket: await connectTo(address, port, leftMs, signal), address };
    } catch (error) {
      why = errorCode(error) ?? errorMessage(error);
    }
  }
  return { kind: 'failed', why: why || 'ETIMEDOUT' };
}

async function addressesOf({ hosts }: EgressPlan, host: Host, resolve: Resolve): Promise<readonly string[]> {
  if (host.kind === 'address') return [host.address];
  const fixed = hosts.get(host.name);
  const found = fixed === undefined ? await resolve(host.name) : [fixed];
  return found.flatMap((address) => canonicalAddress(address) ?? []);
}

async function resolveBySystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/**
 * Allowing a name also allows private addresses behind it. An address that only an attack would put behind a name must
 * be allowed by the address itself.
 */
function isOpen({ opened }: EgressPlan, host: Host, port: number, address: string, reach: Reach): boolean {
  if (reach === 'public') return true;
  const byAddress: Host = { kind: 'address', address };
  if (opened.some((rule) => rule.host.kind === 'address' && covers(rule, byAddress, port))) return true;
  const isOwnNetwork = reach === 'private' || reach === 'loopback' || reach === 'own';
  return isOwnNetwork && opened.some((rule) => covers(rule, host, port));
}

function refusal(host: Host, port: number, { address, reach }: { address: string; reach: Reach }): Refusal {
  const isOwnNetwork = reach === 'private' || reach === 'loopback' || reach === 'own';
  const name = nameOf(host);
  const leads = name === address ? 'it' : `it leads to ${address}, which`;
  const is = reach === 'own' ? 'is this machine itself' : `is not public (${reach})`;
  return {
    host: name,
    port,
    address,
    why: `${leads} ${is}`,
    allow: inConfiguration(isOwnNetwork ? name : address, port),
  };
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}

function connectTo(address: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true });
    const giveUp = (error: Error) => {
      done();
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const onAbort = () => giveUp(timedOut());
    const timer = setTimeout(onAbort, timeoutMs);
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', giveUp);
    };
    signal.addEventListener('abort', onAbort);
    socket.once('error', giveUp);
    socket.once('connect', () => {
      done();
      resolve(socket);
    });
  });
}

function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut()), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function timedOut(): Error {
  return Object.assign(new Error('the connection timed out'), { code: 'ETIMEDOUT' });
}
