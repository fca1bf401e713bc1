import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { AcorClient } from '../../src/client/index.ts';
import { type Command, startServer } from './process.ts';

const TOKEN = 'the-token-of-the-benchmark';

/** `acor serve` on a free port, and clients that put it under load. */
export class ServerUnderLoad {
  readonly client: AcorClient;
  readonly #child: ReturnType<typeof startServer>;
  readonly #port: number;
  readonly #readers: Socket[] = [];

  private constructor(child: ReturnType<typeof startServer>, port: number) {
    this.#child = child;
    this.#port = port;
    this.client = new AcorClient({ url: `http://127.0.0.1:${port}/`, token: TOKEN });
  }

  static async start(acor: string, { cwd, env }: Pick<Command, 'cwd' | 'env'>): Promise<ServerUnderLoad> {
    const argv = [acor, 'serve', '--port', '0', '--http-allow', 'run', '--http-allow', 'cancel'];
    const child = startServer({ argv, cwd, env: { ...env, ACOR_HTTP_TOKEN: TOKEN } });
    const { value } = await child.stdout.getReader().read();
    const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
    return new ServerUnderLoad(child, Number(new URL(url).port));
  }

  /** Opens streams of changes, which are read to the end of the benchmark. Resolves when each has had its first message. */
  async addReaders(count: number): Promise<void> {
    const head = `GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
    const begun = Array.from({ length: count }, () => {
      const socket = connect(this.#port, '127.0.0.1', () => socket.write(head));
      this.#readers.push(socket);
      socket.on('error', () => {});
      return new Promise<void>((resolve) => socket.on('data', () => resolve()));
    });
    await Promise.all(begun);
  }

  /** The bytes that the server has sent to the readers. */
  get bytesRead(): number {
    return this.#readers.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  }

  /** The memory of the server. */
  get memoryBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
  }

  async stop(): Promise<void> {
    for (const socket of this.#readers) socket.destroy();
    this.#child.kill();
    await this.#child.exited;
  }
}
