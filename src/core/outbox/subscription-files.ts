import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { tryFileLock } from '../../util/file-lock.ts';
import { parseObject } from '../../util/parse-object.ts';
import { readOwn, refuseLinks } from '../../util/regular-file.ts';
import { storageError } from '../store-files/storage-error.ts';

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
const FOLDER = 'subscriptions';

/**
 * The registered callbacks of a project, in a folder beside the runs that only its owner may read, because it holds secrets. Any server writes
 * definitions; only the one that holds the lock delivers, and writes the progress.
 */
export class SubscriptionFiles {
  readonly #runsDir: string;

  constructor(runsDir: string) {
    this.#runsDir = runsDir;
  }

  /** The right to deliver, as the function that releases it; undefined while another process has it. */
  claim(): (() => void) | undefined {
    return tryFileLock(this.#path('deliver.lock'));
  }

  list(): Subscription[] {
    try {
      return readdirSync(this.#path())
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
    mkdirSync(this.#path(), { recursive: true, mode: 0o700 });
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
    for (const end of [DEFINITION, PROGRESS]) rmSync(this.#path(id + end), { force: true });
  }

  #write(name: string, value: object, { durable }: { durable: boolean }): void {
    writeAtomic(this.#path(name), JSON.stringify(value), { durable, mode: 0o600 });
  }

  #read(name: string): object | undefined {
    try {
      return parseObject(readOwn(this.#path(name)).toString());
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** A cloned project can have a link in place of the folder. */
  #path(name = ''): string {
    try {
      refuseLinks(this.#runsDir, FOLDER);
    } catch (error) {
      throw storageError(error, 'reach the registered callbacks', this.#runsDir);
    }
    return join(this.#runsDir, FOLDER, name);
  }
}
