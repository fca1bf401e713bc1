import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { RunAuthority } from '../../src/core/sandbox/egress/tls/authority.ts';

export const HOOK_HOST = 'hooks.test.example';

/** A delivery as a receiver gets it. */
export interface Delivered {
  id: string;
  subscription: string;
  signatures: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the message holds
  body: any;
}

/** An HTTPS receiver of MCP events on the loopback device, whose deliveries the library of Standard Webhooks verifies. */
export class EventReceiver {
  readonly secret = `whsec_${Buffer.from('a key that only tests use, 32 bytes').toString('base64')}`;
  readonly delivered: Delivered[] = [];
  readonly verifications: Delivered[] = [];
  readonly problems: string[] = [];
  /** How it answers deliveries, and what it answers to a challenge. */
  status = 204;
  echo: (challenge: string) => string = (challenge) => JSON.stringify({ challenge });
  /** How many connections reached it, and how many deliveries it has refused. */
  connections = 0;
  refused = 0;
  readonly #authority = new RunAuthority();
  readonly #server: Server;

  private constructor(certified: string) {
    const identity = this.#authority.identityOf({ kind: 'name', name: certified });
    this.#server = createServer(identity, async (req, res) => {
      const body = await text(req);
      const headers = req.headers as Record<string, string>;
      try {
        const delivery = {
          id: headers['webhook-id']!,
          subscription: headers['x-mcp-subscription-id']!,
          signatures: headers['webhook-signature']!.split(' ').length,
          body: new Webhook(this.secret).verify(body, headers) as Delivered['body'],
        };
        if (delivery.body.type === 'verification') {
          this.verifications.push(delivery);
          res.end(this.echo(delivery.body.challenge));
          return;
        }
        if (this.status < 300) this.delivered.push(delivery);
        else this.refused++;
      } catch (error) {
        this.problems.push(String(error));
      }
      res.writeHead(this.status, this.status === 307 ? { Location: `${this.url}/elsewhere` } : {}).end();
    });
    this.#server.on('connection', () => this.connections++);
  }

  static async start({ certified = HOOK_HOST } = {}): Promise<EventReceiver> {
    const receiver = new EventReceiver(certified);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://${HOOK_HOST}:${this.port}/hook`;
  }

  /** The part of the configuration that lets a project send here. */
  settings(folder: string): { security: Record<string, unknown> } {
    const file = join(folder, 'authority.pem');
    writeFileSync(file, this.#authority.certificate);
    const place = `${HOOK_HOST}:${this.port}`;
    return {
      security: {
        webhook_hosts: [place],
        allow_private_egress: [place],
        egress_hosts: { [HOOK_HOST]: '127.0.0.1' },
        egress_authorities: [file],
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
