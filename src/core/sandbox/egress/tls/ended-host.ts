import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { errorMessage } from '../../../../util/error-code.ts';
import { remedySentence } from '../../../policy/explain-denial.ts';
import type { SecretInjector } from '../../sandbox.ts';
import type { EgressCount } from '../connection-log.ts';
import type { WayOut } from '../egress-route.ts';
import { nameOf, withPort } from '../host.ts';
import type { EndedHost, RefusedRequest } from './request.ts';

const TIMEOUT_MS = 10_000;

/** What all connections of a run share. */
export interface EndingMeans {
  way: WayOut;
  /** The roots that the hosts are verified against. */
  outward: SecureContext;
  /** Undefined for a tool without injected secrets. */
  injector: SecretInjector | undefined;
}

/** Connects to a host and verifies its TLS; why the tool is refused when that fails. */
export async function reachHost(
  { way, outward: secureContext }: EndingMeans,
  { host, port }: EndedHost,
  protocols: string[],
): Promise<{ socket: TLSSocket; count: EgressCount } | RefusedRequest> {
  const name = nameOf(host);
  const reached = await way.reach(host, port);
  if (reached.kind !== 'connected') {
    const isRefused = reached.kind === 'refused';
    const why = isRefused ? reached.refusal.why : `it could not be reached: ${reached.why}`;
    return { status: isRefused ? 403 : 502, why: `${withPort(name, port)}: ${why}` };
  }
  const { outer: socket, count } = reached;
  const identity = host.kind === 'name' ? { servername: name } : { host: name };
  // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED in the environment turns the default off.
  const rejectUnauthorized = true;
  const tls = connect({ ...identity, socket, secureContext, rejectUnauthorized, ALPNProtocols: protocols });
  try {
    await secured(tls, 'secureConnect');
  } catch (error) {
    const why = `its TLS was refused: ${errorMessage(error)}`;
    way.journal.failed(name, port, why);
    return { status: 502, why: `${withPort(name, port)}: ${why}` };
  }
  return { socket: tls, count };
}

/** Records that a request was refused. */
export function reportRefused(
  { journal }: WayOut,
  { host, port }: EndedHost,
  { why, allow }: RefusedRequest,
): void {
  journal.denied({ host: nameOf(host), port, why, request: why, ...(allow && { allow }) });
}

/** What the answer to the tool says. */
export function sayRefused({ why, allow }: RefusedRequest): string {
  return allow === undefined ? why : `${why}. ${remedySentence(allow)}`;
}

/** Waits until TLS is set up. */
export function secured(socket: TLSSocket, event: 'secure' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      done();
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const onClose = () => fail(new Error('the connection was closed'));
    const onReady = () => {
      done();
      socket.on('error', () => {});
      resolve();
    };
    const timer = setTimeout(() => fail(new Error('it took too long')), TIMEOUT_MS);
    const done = () => {
      clearTimeout(timer);
      socket.off('error', fail).off('close', onClose).off(event, onReady);
    };
    socket.on('error', fail).on('close', onClose).on(event, onReady);
  });
}
