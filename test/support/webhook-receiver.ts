import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface Received {
  id: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the message holds
  data: any;
}

/** A receiver of webhooks on the loopback interface, which verifies each signature with the library of Standard Webhooks. */
export class WebhookReceiver {
  readonly key = `whsec_${Buffer.from('a key that only tests use, 32 bytes').toString('base64')}`;
  readonly received: Received[] = [];
  readonly problems: string[] = [];
  /** What it answers. */
  status = 204;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (req, res) => {
      const body = await text(req);
      try {
        const headers = req.headers as Record<string, string>;
        const { type, data } = new Webhook(this.key).verify(body, headers) as Received;
        if (this.status < 300) this.received.push({ id: headers['webhook-id']!, type, data });
      } catch (error) {
        this.problems.push(String(error));
      }
      res.writeHead(this.status, this.status === 307 ? { Location: this.url } : {}).end();
    });
  }

  /** Port 0 picks a free one. */
  static async start(port = 0): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  of(type: string): Received[] {
    return this.received.filter((each) => each.type === type);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
