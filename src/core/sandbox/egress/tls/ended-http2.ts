import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { errorMessage } from '../../../../util/error-code.ts';
import type { EgressCount } from '../connection-log.ts';
import { nameOf, withPort } from '../host.ts';
import { type Field, headText, readRequestHead } from '../http-head.ts';
import { coveredPieces } from './covered-pieces.ts';
import { type EndingMeans, reachHost, reportRefused, sayRefused } from './ended-host.ts';
import { write } from './message-body.ts';
import { type EndedHost, type EndedRequest, type RefusedRequest, readEndedRequest } from './request.ts';
import { mayUpload, overLimit } from './upload-limit.ts';

const HTTP_2 = 'h2';
const MAX_STREAMS = 100;
const MAX_HEAD_BYTES = 64 * 1024;
/** Requests that the tool cancels cost the supervisor and the host more than the tool (CVE-2023-44487). */
const MAX_CANCELLED = 200;
/** They concern one connection of HTTP/1 and are errors here (RFC 9113 §8.2.2). */
const OF_HTTP_1 = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'];
const ABOUT_CONNECTION = ['host', 'connection', 'transfer-encoding', 'content-length'];

/** The connection to the host that all requests of one connection of the tool share. */
interface Outward {
  session: ClientHttp2Session;
  count: EgressCount;
}

/**
 * One connection of a tool that speaks HTTP/2 and nothing else. Each request is read as one of HTTP/1.1, by the same rules, and sent on by
 * HTTP/2, with the answer's trailers, which gRPC needs.
 */
export class EndedHttp2 {
  readonly #tool: TLSSocket;
  readonly #to: EndedHost;
  readonly #means: EndingMeans;
  readonly #open = new Set<ServerHttp2Stream>();
  #outward: Promise<Outward | RefusedRequest> | undefined;
  #session: ServerHttp2Session | undefined;
  #cancelled = 0;

  constructor(tool: TLSSocket, to: EndedHost, means: EndingMeans) {
    this.#tool = tool;
    this.#to = to;
    this.#means = means;
  }

  /** Serves requests until one side closes the connection. */
  async serve(): Promise<void> {
    const server = createServer({
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEAD_BYTES },
      maxSessionMemory: 4,
    });
    server.on('session', (session) => {
      this.#session = session;
      session.on('error', (error) => this.#refuseAll(`its HTTP/2 is refused: ${errorMessage(error)}`));
    });
    server.on('sessionError', () => this.#end());
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
      this.#accept(stream, headers),
    );
    const closed = new Promise<void>((resolve) => this.#tool.once('close', () => resolve()));
    server.emit('connection', this.#tool);
    await closed;
    this.#end();
  }

  #accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => {});
    if (this.#open.size >= MAX_STREAMS) {
      cutOff(stream);
      return;
    }
    this.#open.add(stream);
    stream.once('close', () => {
      this.#open.delete(stream);
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR && ++this.#cancelled > MAX_CANCELLED)
        this.#refuseAll(`it has cancelled more than ${MAX_CANCELLED} requests of one connection`);
    });
    this.#serveOne(stream, headers).catch(() => cutOff(stream));
  }

  #refuseAll(why: string): void {
    if (!this.#tool.destroyed) reportRefused(this.#means.way, this.#to, { status: 400, why });
    this.#end();
  }

  async #serveOne(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const hasBody = stream.endAfterHeaders !== true;
    const request = this.#readRequest(headers, hasBody);
    if ('why' in request) return this.#refuse(stream, request);
    this.#outward ??= this.#reachOut();
    const outward = await this.#outward;
    if ('why' in outward) return this.#say(stream, outward);
    if (stream.destroyed) return;
    const sent = outward.session.request(this.#headersOut(request, headers), { endStream: !hasBody });
    sent.on('error', () => {});
    stream.once('close', () => cutOff(sent));
    const sending = hasBody ? this.#send(stream, sent, request, outward.count) : Promise.resolve();
    sending.catch(() => cutOff(sent));
    await this.#answer(stream, sent, outward.count);
  }

  /** The request as the text of an HTTP/1.1 head, so that there is one place in which heads are judged. */
  #readRequest(headers: IncomingHttpHeaders, hasBody: boolean): EndedRequest | RefusedRequest {
    const method = headers[':method'] ?? '';
    const authority = headers[':authority'] ?? headers.host ?? '';
    if (headers.host !== undefined && headers.host !== authority)
      return { status: 421, why: 'its host header is not that of its :authority' };
    if (headers[':protocol'] !== undefined) return { status: 405, why: 'it asks for another protocol' };
    const fields: Field[] = [['host', authority]];
    for (const [name, value] of fieldsOf(headers)) {
      if (OF_HTTP_1.includes(name)) return { status: 400, why: `it has the header ${name} of HTTP/1` };
      // HTTP/2 says itself where a body ends.
      if (name !== 'host' && name !== 'content-length') fields.push([name, value]);
    }
    if (hasBody) fields.push(['transfer-encoding', 'chunked']);
    const parts = [method, headers[':path'] ?? '', ...fields.flat()];
    if (parts.some((part) => /[\r\n\0]/.test(part)))
      return { status: 400, why: 'it contains control characters' };
    const text = headText(`${method} ${headers[':path']} HTTP/1.1`, fields).slice(0, -4);
    if (text.length > MAX_HEAD_BYTES) return { status: 400, why: 'its head is too long' };
    const request = readEndedRequest(text, this.#to);
    if ('why' in request) return request;
    return mayUpload(request.rule, text.length) ? request : { status: 413, why: overLimit(request.rule) };
  }

  #headersOut({ head }: EndedRequest, headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    const read = readRequestHead(head.slice(0, -4));
    if (typeof read === 'string') throw new Error(read);
    const [method, path] = read.first;
    const out: OutgoingHttpHeaders = {
      ':method': method,
      ':path': path,
      ':scheme': 'https',
      ':authority': read.fields.find(([name]) => name === 'Host')![1],
    };
    for (const [name, value] of read.fields) {
      const lower = name.toLowerCase();
      if (!ABOUT_CONNECTION.includes(lower)) add(out, lower, value);
    }
    if (headers['te'] === 'trailers') out['te'] = 'trailers';
    // A message that is compressed could hold an echo of the secret.
    if (this.#to.headers.length > 0 && out['grpc-accept-encoding'] !== undefined)
      out['grpc-accept-encoding'] = 'identity';
    return out;
  }

  /** Sends the body. Ends both streams when it is more than the rule allows. */
  async #send(
    stream: ServerHttp2Stream,
    sent: ClientHttp2Stream,
    { rule }: EndedRequest,
    count: EgressCount,
  ): Promise<void> {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      if (!mayUpload(rule, piece.length)) {
        const refused = { status: 413, why: overLimit(rule) };
        cutOff(sent);
        if (stream.headersSent) reportRefused(this.#means.way, this.#to, refused);
        else this.#refuse(stream, refused);
        return;
      }
      count.sent_bytes += piece.length;
      await write(sent, piece);
    }
    // A body that was cut off must not look complete.
    if (stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) cutOff(sent);
    else sent.end();
  }

  async #answer(stream: ServerHttp2Stream, sent: ClientHttp2Stream, count: EgressCount): Promise<void> {
    const response = await new Promise<IncomingHttpHeaders | undefined>((resolve) => {
      sent.once('response', resolve);
      sent.once('close', () => resolve(undefined));
    });
    if (stream.destroyed || stream.headersSent) return;
    if (response === undefined) return this.#say(stream, { status: 502, why: 'the host gave no answer' });
    let trailers: OutgoingHttpHeaders = {};
    sent.once('trailers', (given: IncomingHttpHeaders) => {
      trailers = this.#coveredFields(given);
    });
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(
      { ':status': Number(response[':status'] ?? 502), ...this.#coveredFields(response) },
      { waitForTrailers: true },
    );
    const { injector } = this.#means;
    const body = counted(sent, count);
    const covered = injector === undefined ? body : coveredPieces(body, injector.coveringStream());
    for await (const piece of covered) if (piece.length > 0) await write(stream, piece);
    if (sent.aborted || sent.rstCode !== constants.NGHTTP2_NO_ERROR) cutOff(stream);
    else stream.end();
  }

  #coveredFields(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
    const { injector } = this.#means;
    const out: OutgoingHttpHeaders = {};
    for (const [name, value] of fieldsOf(headers)) {
      if (OF_HTTP_1.includes(name)) continue;
      const bytes = Buffer.from(value, 'latin1');
      add(out, name, (injector?.cover(bytes) ?? bytes).toString('latin1'));
    }
    return out;
  }

  async #reachOut(): Promise<Outward | RefusedRequest> {
    const reached = await reachHost(this.#means, this.#to, [HTTP_2]);
    if ('why' in reached) return reached;
    const { socket, count } = reached;
    const { host, port } = this.#to;
    const name = withPort(nameOf(host), port);
    if (socket.alpnProtocol !== HTTP_2) {
      socket.destroy();
      return { status: 502, why: `${name} speaks no HTTP/2, and the program nothing else` };
    }
    const session = connect(`https://${name}`, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: MAX_HEAD_BYTES },
      maxSessionMemory: 4,
    });
    session.on('error', (error) => {
      if (!this.#tool.destroyed) this.#means.way.journal.failed(nameOf(host), port, errorMessage(error));
      this.#end();
    });
    session.once('close', () => this.#end());
    if (this.#tool.destroyed) session.destroy();
    return { session, count };
  }

  #refuse(stream: ServerHttp2Stream, refused: RefusedRequest): void {
    reportRefused(this.#means.way, this.#to, refused);
    this.#say(stream, { ...refused, why: sayRefused(refused) });
  }

  /** An answer of the gateway itself. */
  #say(stream: ServerHttp2Stream, { status, why }: RefusedRequest): void {
    if (stream.destroyed || stream.headersSent) return;
    stream.respond({ ':status': status, 'content-type': 'text/plain; charset=utf-8' });
    stream.end(`${why}\n`);
    stream.resume();
  }

  #end(): void {
    this.#session?.destroy();
    this.#tool.destroy();
    void this.#outward?.then((outward) => 'session' in outward && outward.session.destroy());
  }
}

/** Ends a stream that is not complete: `close` of Bun first sends an end of stream, so that the rest would look complete. */
function cutOff(stream: Http2Stream): void {
  if (!stream.destroyed) stream.destroy(new Error('the stream was cut off'));
}

/** The fields of a head without its pseudo fields. */
function* fieldsOf(headers: IncomingHttpHeaders): Generator<Field> {
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || value === undefined) continue;
    for (const each of [value].flat()) yield [name, String(each)];
  }
}

function add(headers: OutgoingHttpHeaders, name: string, value: string): void {
  const before = headers[name];
  headers[name] = before === undefined ? value : [before, value].flat().map(String);
}

async function* counted(stream: ClientHttp2Stream, count: EgressCount): AsyncGenerator<Buffer> {
  for await (const piece of stream as AsyncIterable<Buffer>) {
    count.received_bytes += piece.length;
    yield piece;
  }
}
