import { createRequire } from 'node:module';

/** A connection over a Unix socket. */
export interface UnixSocket {
  readonly fd: number;
  /** Sends bytes, at the pace of the other end. */
  send(bytes: string | Uint8Array): void;
  /** Reads nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the connection after everything that was sent. */
  end(): void;
}

export interface UnixSocketHandlers {
  data(bytes: Uint8Array, socket: UnixSocket): void;
  closed(socket: UnixSocket): void;
}

/** The process at the other end of a connection, when it connected. */
export interface Peer {
  pid: number;
  uid: number;
}

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const UCRED_NUMBERS = 3;

/** Connects to a socket. Only for Bun: `node:net` takes 3 ms to load there, and hides the descriptor. */
export async function connectUnix(path: string, handlers: UnixSocketHandlers): Promise<UnixSocket> {
  const connected = await Bun.connect<Queued>({ unix: path, socket: eventsOf(handlers), data: undefined! });
  return connected.data;
}

/** Listens at a path; returns the function that stops it. Only for Bun. */
export function listenUnix(path: string, handlers: UnixSocketHandlers): () => void {
  const listener = Bun.listen<Queued>({ unix: path, socket: eventsOf(handlers), data: undefined! });
  return () => listener.stop();
}

function eventsOf(handlers: UnixSocketHandlers): Bun.SocketHandler<Queued> {
  return {
    open(socket) {
      socket.data = new Queued(socket);
    },
    data(socket, bytes) {
      handlers.data(bytes, socket.data);
    },
    drain(socket) {
      socket.data.flush();
    },
    close(socket) {
      handlers.closed(socket.data);
    },
    error() {},
  };
}

/** Keeps what the kernel does not take at once. */
class Queued implements UnixSocket {
  readonly #socket: Bun.Socket<Queued>;
  #waiting: Uint8Array[] = [];
  #isEnding = false;

  constructor(socket: Bun.Socket<Queued>) {
    this.#socket = socket;
  }

  get fd(): number {
    return (this.#socket as unknown as { fd: number }).fd;
  }

  send(bytes: string | Uint8Array): void {
    this.#waiting.push(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    this.flush();
  }

  flush(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const count = this.#socket.write(next);
      // The connection is closed; its handler says so.
      if (count < 0) return;
      if (count < next.length) {
        this.#waiting[0] = next.subarray(count);
        return;
      }
      this.#waiting.shift();
    }
    if (this.#isEnding) this.#socket.end();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#isEnding = true;
    this.flush();
  }
}

/** Linux: who connected, as the kernel has recorded it. */
export function peerOf({ fd }: UnixSocket): Peer | undefined {
  const credentials = new Int32Array(UCRED_NUMBERS);
  const length = new Uint32Array([credentials.byteLength]);
  if (calls().getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, length) !== 0) return undefined;
  const [pid = 0, uid = 0] = credentials;
  return { pid, uid };
}

/** Another descriptor of the connection, which stays open when the connection is closed. -1 when that fails. */
export function duplicateOf({ fd }: UnixSocket): number {
  return calls().dup(fd);
}

type Calls = ReturnType<typeof openCalls>;

let opened: Calls | undefined;

/** Opened once: each time the runtime compiles them. A client needs none of it, and `bun:ffi` takes 2 ms to load. */
function calls(): Calls {
  opened ??= openCalls();
  return opened;
}

function openCalls() {
  const { dlopen } = createRequire(import.meta.url)('bun:ffi') as typeof import('bun:ffi');
  return dlopen('libc.so.6', {
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    dup: { args: ['i32'], returns: 'i32' },
  }).symbols;
}
