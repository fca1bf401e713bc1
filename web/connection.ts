import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import {
  AcorClient,
  type Answer,
  type CallOptions,
  type Changes,
  type OperationTypes,
} from '../src/client/index.ts';
import type { FromWorker } from './stream-worker.ts';

/** Several changes are one look. */
const SETTLE_MS = 300;

export const client = new AcorClient({ url: `${location.origin}/` });

/** Whether the stream of changes is open. */
export const isConnected = signal(true);

const listeners = new Set<(changes: Changes) => void>();

/** Calls back for all changes from now on. Returns the function that ends it. */
export function onChanges(listener: (changes: Changes) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `load` now, and again after changes that concern it. Returns the function that ends it. */
export function keepLoaded(
  load: () => void,
  concerns: (changes: Changes) => boolean = () => true,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    timer = undefined;
    load();
  };
  load();
  const stop = onChanges((changes) => {
    if (changes.isReset || concerns(changes)) timer ??= setTimeout(soon, SETTLE_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** The answer of an operation, kept up to date; undefined until it has come. */
export function useAnswer<N extends keyof OperationTypes>(
  operation: N,
  input: OperationTypes[N]['input'],
  { concerns, ...options }: CallOptions & { concerns?: (changes: Changes) => boolean } = {},
): Answer<N> | undefined {
  const [answer, setAnswer] = useState<Answer<N>>();
  useEffect(() => {
    let isWanted = true;
    const load = async () => {
      // Without a connection the header says so, and the last answer stays.
      const got = await client.call(operation, input, options).catch(() => undefined);
      if (isWanted && got !== undefined) setAnswer(got);
    };
    const stop = keepLoaded(() => void load(), concerns);
    return () => {
      isWanted = false;
      stop();
    };
  }, [JSON.stringify([operation, input, options])]);
  return answer;
}

/** Whether changes are about a run. */
export function about(run: string): (changes: Changes) => boolean {
  return ({ runs, removed }) => runs.some(({ run_id }) => run_id === run) || removed.includes(run);
}

function pass(changes: Changes): void {
  for (const listener of [...listeners]) listener(changes);
}

/** A reconnection may have missed nothing, since the stream goes on where it was; a first one begins now. */
function setConnected(isNow: boolean): void {
  isConnected.value = isNow;
}

// Browsers open six connections to a server at most, so all tabs share one stream.
if ('SharedWorker' in globalThis) {
  const worker = new SharedWorker('stream-worker.js', 'acor');
  worker.port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if ('changes' in data) pass(data.changes);
    else setConnected(data.isConnected);
  };
} else {
  const changes = client.changes({ onConnection: setConnected });
  void (async () => {
    for await (const each of changes) pass(each);
  })().catch(() => setConnected(false));
}
