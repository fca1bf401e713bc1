import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number; message?: string };
  attributes: Record<string, string | number>;
}

/** The spans of an export request in the JSON form of OTLP; throws when it has another shape. */
export function spansIn(json: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(json);
  const scopes: { spans: WireSpan[] }[] = resourceSpans.flatMap(
    ({ scopeSpans }: { scopeSpans: { spans: WireSpan[] }[] }) => scopeSpans,
  );
  return scopes.flatMap(({ spans }) => spans.map(read));
}

type WireSpan = Omit<ReceivedSpan, 'attributes'> & {
  attributes: { key: string; value: { stringValue?: string; intValue?: string; doubleValue?: number } }[];
};

function read(span: WireSpan): ReceivedSpan {
  if (!/^[0-9a-f]{32}$/.test(span.traceId) || !/^[0-9a-f]{16}$/.test(span.spanId))
    throw new Error(`ids: ${span.traceId} ${span.spanId}`);
  if (
    !/^\d{19}$/.test(span.startTimeUnixNano) ||
    BigInt(span.endTimeUnixNano) < BigInt(span.startTimeUnixNano)
  )
    throw new Error(`times: ${span.startTimeUnixNano} ${span.endTimeUnixNano}`);
  const attributes = Object.fromEntries(
    span.attributes.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue } = value;
      return [key, stringValue ?? doubleValue ?? Number(intValue)];
    }),
  );
  return { ...span, attributes };
}

/** A collector that takes OTLP over HTTP with JSON, on the loopback interface. */
export class OtlpCollector {
  readonly spans: ReceivedSpan[] = [];
  readonly authorizations: (string | undefined)[] = [];
  readonly problems: string[] = [];
  /** What it answers. */
  status = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (req, res) => {
      const body = await text(req);
      try {
        if (req.url !== '/v1/traces' || req.method !== 'POST') throw new Error(`${req.method} ${req.url}`);
        if (req.headers['content-type'] !== 'application/json')
          throw new Error(`${req.headers['content-type']}`);
        const spans = spansIn(body);
        if (this.status === 200) this.spans.push(...spans);
        this.authorizations.push(req.headers.authorization);
      } catch (error) {
        this.problems.push(String(error));
      }
      res.writeHead(this.status, { 'Content-Type': 'application/json' }).end('{}');
    });
  }

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
