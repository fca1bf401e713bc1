import { request } from 'node:http';
import type { Envelope, Running, TestProject } from './project.ts';

export const TOKEN = 'a-token-for-tests-only';

/** An answer of the server. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  json: Envelope;
}

/** `acor serve` over a project, up to the end of the test. */
export class TestServer {
  readonly running: Running;
  readonly url: string;
  /** Signs a browser in, once. */
  readonly link: string;

  private constructor(running: Running, { url, link }: { url: string; link: string }) {
    this.running = running;
    this.url = url;
    this.link = link;
  }

  static async start(project: TestProject, flags: readonly string[] = [], port = 0): Promise<TestServer> {
    const running = project.start(['serve', '--port', String(port), ...flags], {
      env: { ACOR_HTTP_TOKEN: TOKEN },
    });
    const line = await new Promise<string>((resolve, reject) => {
      running.child.stdout!.once('data', resolve);
      void running.finished.then(({ stdout, stderr }) =>
        reject(new Error(`it did not serve: ${stdout}${stderr}`)),
      );
    });
    return new TestServer(running, JSON.parse(line));
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Sends a request with the token, unless the headers have another one. */
  send(
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> {
    const all = { Authorization: `Bearer ${TOKEN}`, ...headers };
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, method, path, headers: withoutEmpty(all) };
      const sent = request(options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const { statusCode, headers: given } = answer;
          resolve({ status: statusCode!, headers: given, text, json: parsed(text) });
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, { headers });
  }

  /** Calls an operation with its input as JSON. */
  call(operation: string, input: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', `/api/v1/${operation}`, {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(input),
    });
  }

  async stop(): Promise<void> {
    this.running.child.kill();
    await this.running.finished;
  }
}

/** A header with an empty value is not sent. */
function withoutEmpty(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}

function parsed(text: string): Envelope {
  try {
    return JSON.parse(text);
  } catch {
    return { ok: false, meta: {} };
  }
}

/** The messages of a stream of server-sent events, as they come. */
export class TestStream {
  readonly messages: { event: string; id: string; data: unknown }[] = [];
  readonly #left = new AbortController();

  constructor(server: TestServer, path: string, headers: Record<string, string> = {}) {
    void this.#read(server, path, headers).catch(() => {});
  }

  leave(): void {
    this.#left.abort();
  }

  async #read(server: TestServer, path: string, headers: Record<string, string>): Promise<void> {
    const answer = await fetch(new URL(path, server.url), {
      headers: { Authorization: `Bearer ${TOKEN}`, Accept: 'text/event-stream', ...headers },
      signal: this.#left.signal,
    });
    let rest = '';
    for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        const data = field('data');
        if (data !== undefined)
          this.messages.push({
            event: field('event') ?? 'message',
            id: field('id') ?? '',
            data: JSON.parse(data),
          });
      }
    }
  }
}
