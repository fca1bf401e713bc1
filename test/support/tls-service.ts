import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { RunAuthority } from '../../src/core/sandbox/egress/tls/authority.ts';

/** A request as the service got it. */
export interface ServedRequest {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** An HTTPS service on the loopback device, with an authority of its own that no system trusts. */
export class TlsService {
  readonly requests: ServedRequest[] = [];
  readonly authority: RunAuthority;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** `files` are served by their paths. */
  static async start(name: string, { authority = new RunAuthority(), files = '' } = {}): Promise<TlsService> {
    const service = new TlsService(name, authority, files);
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  private constructor(name: string, authority: RunAuthority, files: string) {
    this.authority = authority;
    this.#server = createServer(authority.identityOf({ kind: 'name', name }), (request, response) => {
      let body = '';
      request.setEncoding('latin1');
      request.on('data', (text) => {
        body += text;
      });
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        this.requests.push({ method, url, headers, body });
        answer(request, response, { body, files });
      });
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      const { method = '', url = '', headers } = request;
      this.requests.push({ method, url, headers, body: '' });
      talk(request, socket);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The last request. */
  get last(): ServedRequest {
    const last = this.requests.at(-1);
    if (last === undefined) throw new Error('the service got no request');
    return last;
  }

  /** Writes the certificate of the authority. */
  writeAuthority(path: string): string {
    writeFileSync(path, this.authority.certificate);
    return path;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { body, files }: { body: string; files: string },
): void {
  const url = new URL(request.url ?? '/', 'https://any.test');
  const authorization = String(request.headers['authorization'] ?? '');
  switch (url.pathname) {
    case '/echo':
      response.setHeader('X-Echo', authorization);
      response.end(JSON.stringify({ authorization, body }));
      return;
    // In pieces that no reader sees as a whole.
    case '/echo-in-pieces':
      void inPieces(response, authorization);
      return;
    default: {
      const path = join(files, url.pathname);
      const isFile = files !== '' && existsSync(path) && statSync(path).isFile();
      response.writeHead(isFile ? 200 : url.pathname === '/' ? 200 : 404);
      response.end(isFile ? readFileSync(path) : 'served\n');
    }
  }
}

async function inPieces(response: ServerResponse, text: string): Promise<void> {
  for (const character of text) {
    await new Promise<void>((resolve) => response.write(character, () => resolve()));
  }
  response.end();
}

/** A WebSocket that says the header that opened it, and then each short frame that it gets. */
function talk({ headers }: IncomingMessage, socket: Socket): void {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.on('error', () => {});
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.write(frame(Buffer.from(String(headers['authorization'] ?? ''))));
  socket.on('data', (data: Buffer) => {
    const length = data[1]! & 0x7f;
    const mask = data.subarray(2, 6);
    const text = data.subarray(6, 6 + length).map((byte, at) => byte ^ mask[at % 4]!);
    if ((data[0]! & 0x0f) === 1) socket.write(frame(text));
    else socket.end();
  });
}

function frame(text: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x81, text.length]), text]);
}
