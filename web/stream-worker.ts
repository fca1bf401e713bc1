import { AcorClient, type Changes } from '../src/client/index.ts';

/** What the worker sends to the tabs of the browser. */
export type FromWorker = { changes: Changes } | { isConnected: boolean };

const REFUSED_WAIT_MS = 2000;

const ports = new Set<MessagePort>();
let isConnected = true;

function send(message: FromWorker): void {
  for (const port of ports) port.postMessage(message);
}

async function follow(): Promise<never> {
  let cursor: string | undefined;
  const client = new AcorClient({ url: `${location.origin}/` });
  const onConnection = (isNow: boolean) => {
    isConnected = isNow;
    send({ isConnected });
  };
  for (;;) {
    try {
      const from = cursor === undefined ? {} : { cursor };
      for await (const changes of client.changes({ ...from, onConnection })) {
        cursor = changes.cursor;
        send({ changes });
      }
    } catch {
      // Signed out: a link in another tab may sign the browser in again.
      onConnection(false);
      await new Promise((resolve) => setTimeout(resolve, REFUSED_WAIT_MS));
    }
  }
}

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  ports.add(port!);
  port!.postMessage({ isConnected } satisfies FromWorker);
});

void follow();
