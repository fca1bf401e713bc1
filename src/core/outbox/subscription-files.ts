import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { parseObject } from '../../util/parse-object.ts';
import { readOwn } from '../../util/regular-file.ts';

/** A callback that a client has registered for events. */
export interface Subscription {
  id: string;
  /** Who registered it: its events are those that this client may read. */
  client: string;
  name: string;
  arguments: { run?: string | undefined; tool?: string | undefined };
  url: string;
  /** `whsec_…`: what the client verifies with. */
  secret: string;
  /** The secret before it, while messages that are on their way may need it. */
  previous?: { secret: string; untilMs: number };
  expiresAtMs: number;
  /** Earlier events are not sent, RFC 3339. */
  notBefore?: string;
}

/** What was delivered: everything up to the cursor. */
export interface SubscriptionProgress {
  cursor: string;
  /** How often the event after the cursor has failed, and when it is tried again. */
  failed: number;
  retryAtMs: number;
  lastDeliveryAt: string | null;
  lastError: string | null;
  failedSince: string | null;
}

const DEFINITION = '.json';
const PROGRESS = '.progress';

/**
 * The registered callbacks of a project, in a folder beside the runs that only its owner may read, because it holds secrets. Any server writes
 * definitions; only the one that holds the lock delivers, and writes the progress.
 */
export class SubscriptionFiles {
  readonly lock: string;
  readonly #folder: string;

  constructor(runsDir: string) {
    this.#folder = join(runsDir, 'subscriptions');
    this.lock = join(this.#folder, 'deliver.lock');
  }

  list(): Subscription[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => name.endsWith(DEFINITION))
        .flatMap((name) => this.read(name.slice(0, -DEFINITION.length)) ?? []);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  read(id: string): Subscription | undefined {
    return this.#read(id + DEFINITION) as Subscription | undefined;
  }

  write(subscription: Subscription): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#write(subscription.id + DEFINITION, subscription, { durable: true });
  }

  progress(id: string): SubscriptionProgress | undefined {
    return this.#read(id + PROGRESS) as SubscriptionProgress | undefined;
  }

  /** A crash may take the last one: then a message is sent again, with its id. */
  writeProgress(id: string, progress: SubscriptionProgress, { durable = false } = {}): void {
    this.#write(id + PROGRESS, progress, { durable });
  }

  remove(id: string): void {
    for (const end of [DEFINITION, PROGRESS]) rmSync(join(this.#folder, id + end), { force: true });
  }

  #write(name: string, value: object, { durable }: { durable: boolean }): void {
    writeAtomic(join(this.#folder, name), JSON.stringify(value), { durable, mode: 0o600 });
  }

  #read(name: string): object | undefined {
    try {
      return parseObject(readOwn(join(this.#folder, name)).toString());
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}
