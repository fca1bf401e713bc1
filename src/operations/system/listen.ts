import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';

/** A client that has not sent its headers by then is disconnected. */
const HEADERS_TIMEOUT_MS = 10_000;
/**
 * How long a connection may rest between two requests. A client that sends a request while the server closes the connection gets an error:
 * the default of 5 s is shorter than the time for which most clients keep theirs.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Listens on the loopback interface only; 0 picks a free port. Returns the port. Throws E_USAGE when it is not available. */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(port, error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

function cannotListen(port: number, error: unknown): AcorError {
  const isTaken = errorCode(error) === 'EADDRINUSE';
  return new AcorError('E_USAGE', `port ${port} is not available: ${errorMessage(error)}`, {
    hint: isTaken
      ? 'Another program listens there: give another --port, or 0 for a free one.'
      : 'Give another --port.',
  });
}
