import type { TLSSocket } from 'node:tls';
import { errorMessage } from '../../../../util/error-code.ts';
import type { EgressCount } from '../connection-log.ts';
import { type Field, headText, listed, readResponseHead, valuesOf } from '../http-head.ts';
import { ByteReader, MalformedMessage } from './byte-reader.ts';
import { coveredPieces } from './covered-pieces.ts';
import { type EndingMeans, reachHost, reportRefused, sayRefused } from './ended-host.ts';
import { type Framing, framingField, framingOf, readBody, write, writeBody } from './message-body.ts';
import { type EndedHost, type EndedRequest, type RefusedRequest, readEndedRequest } from './request.ts';
import type { UsedRule } from './request-rules.ts';
import { mayUpload, overLimit } from './upload-limit.ts';

const MAX_HEAD_BYTES = 64 * 1024;
const TIMEOUT_MS = 10_000;
const PROTOCOL = 'http/1.1';
/** Of a response; the gateway writes those of its own connection. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'upgrade', 'trailer'];

/** A connection to a host, with its TLS verified. */
interface Outward {
  socket: TLSSocket;
  reader: ByteReader;
  count: EgressCount;
}

/**
 * One connection of the tool whose TLS ends here. Requests are read one after the other and sent on with their headers.
 * The host's answers are passed on as they come.
 */
export class EndedConnection {
  readonly #tool: TLSSocket;
  readonly #requests: ByteReader;
  readonly #to: EndedHost;
  readonly #means: EndingMeans;
  #outward: Outward | undefined;
  /** Whether the tool has got a part of the answer to its last request. */
  #isAnswered = false;
  /** Why the body of that request was cut off. */
  #refused: RefusedRequest | undefined;

  constructor(tool: TLSSocket, to: EndedHost, means: EndingMeans) {
    this.#tool = tool;
    this.#requests = new ByteReader(tool);
    this.#to = to;
    this.#means = means;
    tool.once('close', () => this.#outward?.socket.destroy());
  }

  /** Serves requests until one side closes the connection. */
  async serve(): Promise<void> {
    try {
      while (await this.#serveOne());
      this.#close();
    } catch (error) {
      const refused =
        this.#refused ?? (error instanceof MalformedMessage && { status: 400, why: error.message });
      if (refused && !this.#isAnswered && !this.#tool.destroyed) this.#refuse(refused);
      // A normal end would make a truncated answer look complete.
      else this.#tool.destroy();
    }
  }

  /** Whether another request may follow. */
  async #serveOne(): Promise<boolean> {
    const text = await this.#requests.head(MAX_HEAD_BYTES);
    if (text === undefined) return false;
    const request = this.#readRequest(text);
    if ('why' in request) {
      this.#refuse(request);
      return false;
    }
    this.#isAnswered = false;
    const outward = await this.#reachOut();
    if (outward === undefined) return false;
    await write(outward.socket, Buffer.from(request.head, 'latin1'));
    let isSent = false;
    const sending = this.#send(request, outward).then(() => {
      isSent = true;
    });
    sending.catch((error) => this.#abandon(outward, error));
    const mayGoOn = await this.#answer(request, outward).catch(asCutOff);
    return mayGoOn && isSent && !request.isLast;
  }

  async #send({ framing, rule }: EndedRequest, { socket, count }: Outward): Promise<void> {
    await writeBody(socket, framing, this.#counted(readBody(this.#requests, framing), count, rule));
  }

  /** Counts what the tool sends. Throws when it is more than the rule allows. */
  async *#counted(
    pieces: AsyncIterable<Buffer>,
    count: EgressCount,
    rule: UsedRule | undefined,
  ): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      if (!mayUpload(rule, piece.length)) throw new UploadRefused(overLimit(rule));
      count.sent_bytes += piece.length;
      yield piece;
    }
  }

  /** Reads a head and counts it. Refuses a request that announces more than its rule allows. */
  #readRequest(text: string): EndedRequest | RefusedRequest {
    const request = readEndedRequest(text, this.#to);
    if ('why' in request) return request;
    const { framing, rule } = request;
    const announced = framing.kind === 'length' ? framing.bytes : 0;
    if (!mayUpload(rule, text.length + announced)) return { status: 413, why: overLimit(rule) };
    // The body is counted when it is sent.
    if (rule !== undefined) rule.sentBytes -= announced;
    return request;
  }

  /** A body that cannot be sent on has no end, so that the host would wait for it. */
  #abandon({ socket }: Outward, error: unknown): void {
    if (error instanceof UploadRefused) this.#refused = { status: 413, why: error.message };
    if (error instanceof MalformedMessage) this.#refused = { status: 400, why: error.message };
    if (this.#refused !== undefined && this.#isAnswered) this.#report(this.#refused);
    socket.destroy();
  }

  /** Passes the answer on. Whether the connection stays usable. */
  async #answer(request: EndedRequest, outward: Outward): Promise<boolean> {
    const { injector } = this.#means;
    for (;;) {
      const response = await this.#responseHead(request, outward);
      const head = Buffer.from(response.text, 'latin1');
      this.#isAnswered = true;
      await write(this.#tool, injector?.cover(head) ?? head);
      if (response.status === 101) {
        await this.#carry(outward, request.rule);
        return false;
      }
      if (response.status < 200) continue;
      const body = counting(readBody(outward.reader, response.framing), (bytes) => {
        outward.count.received_bytes += bytes;
      });
      await writeBody(this.#tool, response.framing, this.#covered(body));
      return !response.isLast;
    }
  }

  async #responseHead({ method, isUpgrade, isAlone }: EndedRequest, { reader }: Outward) {
    const text = await reader.head(MAX_HEAD_BYTES);
    const head = text === undefined ? 'the host closed the connection' : readResponseHead(text);
    if (typeof head === 'string') throw new Error(head);
    const [version, code, reason] = head.first;
    const status = Number(code);
    if (status === 101 && !isUpgrade) throw new Error('the host changed the protocol unasked');
    const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
    const framing: Framing = hasBody ? framingOf(head.fields, 'until-close') : { kind: 'none' };
    const connection = valuesOf(head.fields, 'connection').flatMap(listed);
    const isClosed = connection.includes('close') || version === 'HTTP/1.0';
    const isLast = isAlone || isClosed || framing.kind === 'until-close';
    const kept = head.fields.filter(([name]) => !HOP_BY_HOP.includes(name.toLowerCase()));
    // Without a body the length is that of another answer, as to HEAD.
    const length = hasBody ? framingField(framing) : head.fields.filter(isLength);
    const own: Field[] = status === 101 ? UPGRADED : isLast && status >= 200 ? [['Connection', 'close']] : [];
    const answer = headText(`HTTP/1.1 ${code} ${reason}`, [...kept, ...length, ...own]);
    return { status, framing, isLast, text: answer };
  }

  /** After the change to a WebSocket nothing is a request any more. */
  async #carry({ socket, reader, count }: Outward, rule: UsedRule | undefined): Promise<void> {
    const sent = this.#counted(this.#requests.rest(), count, rule);
    const received = counting(reader.rest(), (bytes) => {
      count.received_bytes += bytes;
    });
    const raw: Framing = { kind: 'until-close' };
    const sending = writeBody(socket, raw, sent).then(() => socket.end());
    sending.catch((error) => this.#abandon({ socket, reader, count }, error));
    await Promise.all([
      sending,
      writeBody(this.#tool, raw, this.#covered(received)).then(() => this.#tool.end()),
    ]);
  }

  /** What a host answers, without the secrets that were put into the requests. */
  #covered(pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    const { injector } = this.#means;
    return injector === undefined ? pieces : coveredPieces(pieces, injector.coveringStream());
  }

  /** The connection to the host: the one of the request before while it is open. Undefined when the tool was refused. */
  async #reachOut(): Promise<Outward | undefined> {
    if (this.#outward !== undefined && !this.#outward.reader.isClosed && !this.#outward.socket.destroyed)
      return this.#outward;
    const reached = await reachHost(this.#means, this.#to, [PROTOCOL]);
    if ('why' in reached) {
      this.#say(reached.status, reached.why);
      return undefined;
    }
    const { socket, count } = reached;
    this.#outward = { socket, reader: new ByteReader(socket), count };
    if (this.#tool.destroyed) socket.destroy();
    return this.#outward;
  }

  #refuse(refused: RefusedRequest): void {
    this.#report(refused);
    this.#say(refused.status, sayRefused(refused));
  }

  #report(refused: RefusedRequest): void {
    reportRefused(this.#means.way, this.#to, refused);
  }

  /** An answer of the gateway itself, which is the last one. */
  #say(status: number, text: string): void {
    const body = `${text}\n`;
    const head = headText(`HTTP/1.1 ${status} ${REASONS[status]}`, [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Content-Length', String(Buffer.byteLength(body))],
      ['Connection', 'close'],
    ]);
    this.#tool.write(`${head}${body}`);
    this.#close();
  }

  #close(): void {
    this.#outward?.socket.destroy();
    this.#tool.end();
    // Unread data would reset the connection before the tool has read the answer.
    this.#tool.resume();
    const timer = setTimeout(() => this.#tool.destroy(), TIMEOUT_MS);
    this.#tool.once('close', () => clearTimeout(timer));
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  421: 'Misdirected Request',
  502: 'Bad Gateway',
  505: 'HTTP Version Not Supported',
};

const UPGRADED: Field[] = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
];

/** The tool sends more than its rule allows. */
class UploadRefused extends Error {}

/** A host that sends something else than HTTP/1 is not a fault of the tool. */
function asCutOff(error: unknown): never {
  throw new Error(errorMessage(error));
}

function isLength([name]: Field): boolean {
  return name.toLowerCase() === 'content-length';
}

async function* counting(
  pieces: AsyncIterable<Buffer>,
  add: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    add(piece.length);
    yield piece;
  }
}
