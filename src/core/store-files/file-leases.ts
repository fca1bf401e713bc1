import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { attachTo, showRun } from '../../protocol/next-steps.ts';
import { syncFolder } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/files.ts';
import { newSpanId } from '../../util/ids.ts';
import { ownIdentity, type ProcessOwner, stateOfOwner } from '../../util/process-owner.ts';
import { openOwn } from '../../util/regular-file.ts';
import type { HeldLease, Lease, LeaseState, Leases } from '../ports/lease.ts';
import { storageError } from './storage-error.ts';

const HEARTBEAT_MS = 10_000;
/** Used only for an owner whose process cannot be checked: on another host or in another PID namespace. */
const EXPIRY_MS = 30_000;
/** The padding of a lease. Truncating it frees space for the end of a run on a full disk. */
const RESERVE_BYTES = 16_384;
const OWNER_BYTES = 1024;
const NAME_PATTERN = /^(r-[0-9a-z][0-9a-z-]{0,62})@(\d+)$/;
const TEMPORARY_SUFFIX = '.new';
const TEMPORARY_IS_STALE_AFTER_MS = 60_000;

/** The content of a lease: its owner, and whether the owner only recovers the run. */
type LeaseOwner = ProcessOwner & {
  recovers?: boolean;
  /** The inode of the folder of leases: a lease in a copy of the store is not held. */
  folder?: number;
};

interface LeaseFile {
  runId: string;
  epoch: number;
  path: string;
}

export function leasesFolder(root: string): string {
  return join(root, 'leases');
}

/** Leases as files `.runs/leases/<run>@<epoch>`: the content identifies the owner, the modification time is the heartbeat. */
export class FileLeases implements Leases {
  readonly #folder: string;
  /** When this process looked for stale temporary files last. */
  #tidiedAtMs = Number.NEGATIVE_INFINITY;

  constructor(root: string) {
    this.#folder = leasesFolder(root);
  }

  async acquire(
    runId: string,
    epoch: number,
    { mayTake, recovers = false }: { mayTake?: () => Promise<void>; recovers?: boolean } = {},
  ): Promise<FileLease> {
    if (epoch === 1) this.#removeStaleTemporaries();
    const lease = this.#claim(runId, epoch, recovers);
    try {
      await mayTake?.();
    } catch (error) {
      await lease.release();
      throw error;
    }
    // The first epoch has none before it.
    if (epoch === 1) return lease;
    try {
      // Removing the leases of earlier epochs fences their owners: their next write fails.
      const older = this.#filesOf(runId).filter((file) => file.epoch < epoch);
      for (const file of older) rmSync(file.path, { force: true });
      // A removed lease must not reappear after a crash of the machine.
      if (older.length > 0) syncFolder(this.#folder);
    } catch (error) {
      // A lost run without a lease is not among those that the next start of a run recovers.
      await lease.abandon();
      throw storageError(error, 'claim the run', this.#pathOf(runId, epoch));
    }
    return lease;
  }

  /**
   * Takes the leases of many runs that are to be removed or packed, like `acquire` with `recovers`: all of them, or the error for each that it
   * could not take. They are links to one file, and the folder is listed once: a file and a list for each take longer than to delete the runs.
   */
  acquireAll(claims: readonly { runId: string; epoch: number }[]): Map<string, FileLease | AcorError> {
    const taken = new Map<string, FileLease | AcorError>();
    const owner = join(this.#folder, `${newSpanId()}${TEMPORARY_SUFFIX}`);
    try {
      this.#writeOwner(owner, true);
      for (const { runId, epoch } of claims) taken.set(runId, this.#linked(owner, runId, epoch));
      this.#fence(taken);
    } catch (error) {
      for (const { runId } of claims) {
        const lease = taken.get(runId);
        if (lease instanceof FileLease) void lease.abandon();
        taken.set(runId, storageError(error, 'claim the run', this.#folder));
      }
    } finally {
      removeIfPossible(owner);
    }
    return taken;
  }

  async inspect(runId: string): Promise<LeaseState | 'none'> {
    return this.stateOf(runId);
  }

  async newest(runId: string): Promise<HeldLease | undefined> {
    return this.newestNow(runId);
  }

  async list(): Promise<HeldLease[]> {
    return this.listNow();
  }

  /** `list` without a promise. */
  listNow(): HeldLease[] {
    return this.#newestOf(() => this.#files());
  }

  async forget(runId: string): Promise<void> {
    for (const { path } of this.#filesOf(runId))
      if (stateOfFile(path)?.state === 'lost') rmSync(path, { force: true });
  }

  /** `inspect` without a promise, for the queue, which calls it under its lock. */
  stateOf(runId: string): LeaseState | 'none' {
    return this.newestNow(runId)?.state ?? 'none';
  }

  /** `newest` without a promise. */
  newestNow(runId: string): HeldLease | undefined {
    return this.#newestOf(() => this.#filesOf(runId))[0];
  }

  async isHeld(runId: string, epoch: number): Promise<boolean> {
    return this.isHeldNow(runId, epoch);
  }

  /** `isHeld` without a promise. */
  isHeldNow(runId: string, epoch: number): boolean {
    return existsSync(this.#pathOf(runId, epoch));
  }

  /** The newest lease of each run. When a lease was released or superseded before it could be read, the folder is listed again. */
  #newestOf(filesNow: () => LeaseFile[]): HeldLease[] {
    const newest = new Map<string, LeaseFile>();
    for (const file of filesNow())
      if (file.epoch > (newest.get(file.runId)?.epoch ?? 0)) newest.set(file.runId, file);
    return [...newest.values()].flatMap((file) => {
      const read = stateOfFile(file.path);
      if (read !== undefined) return [{ runId: file.runId, epoch: file.epoch, ...read }];
      return this.#newestOf(() => this.#filesOf(file.runId));
    });
  }

  /** Creates the file of an epoch. A hard link makes it appear complete, and fails when another process has created it. */
  #claim(runId: string, epoch: number, recovers: boolean): FileLease {
    const path = this.#pathOf(runId, epoch);
    const own = `${path}.${newSpanId()}${TEMPORARY_SUFFIX}`;
    try {
      this.#writeOwner(own, recovers);
      const lease = this.#linked(own, runId, epoch);
      if (lease instanceof FileLease) return lease;
      throw lease;
    } catch (error) {
      throw storageError(error, 'claim the run', path);
    } finally {
      removeIfPossible(own);
    }
  }

  #writeOwner(path: string, recovers: boolean): void {
    mkdirSync(this.#folder, { recursive: true });
    const owner: LeaseOwner = {
      ...ownIdentity(),
      folder: statSync(this.#folder).ino,
      ...(recovers && { recovers }),
    };
    const text = JSON.stringify(owner).padEnd(OWNER_BYTES);
    // Recovery removes the lost lease with its reserve, so it needs none of its own.
    if (recovers || !writeWithReserve(path, text)) writeFileSync(path, text, { flag: 'wx' });
  }

  #linked(owner: string, runId: string, epoch: number): FileLease | AcorError {
    const path = this.#pathOf(runId, epoch);
    try {
      linkSync(owner, path);
      return new FileLease(path, runId, epoch);
    } catch (error) {
      return errorCode(error) === 'EEXIST'
        ? new HeldByAnother(runId)
        : storageError(error, 'claim the run', path);
    }
  }

  /** Removes the leases of earlier epochs, which fences their owners. */
  #fence(taken: ReadonlyMap<string, FileLease | AcorError>): void {
    const older = this.#files().filter(({ runId, epoch }) => {
      const lease = taken.get(runId);
      return lease instanceof FileLease && epoch < lease.epoch;
    });
    for (const { path } of older) rmSync(path, { force: true });
    // A removed lease must not reappear after a crash of the machine.
    if (older.length > 0) syncFolder(this.#folder);
  }

  /** Removes temporary files of processes that were killed before they linked them. */
  #removeStaleTemporaries(): void {
    const nowMs = performance.now();
    if (nowMs - this.#tidiedAtMs < TEMPORARY_IS_STALE_AFTER_MS) return;
    this.#tidiedAtMs = nowMs;
    for (const name of this.#names()) {
      if (!name.endsWith(TEMPORARY_SUFFIX)) continue;
      const path = join(this.#folder, name);
      const madeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Math.abs(Date.now() - madeMs) > TEMPORARY_IS_STALE_AFTER_MS) removeIfPossible(path);
    }
  }

  #pathOf(runId: string, epoch: number): string {
    return join(this.#folder, `${runId}@${epoch}`);
  }

  #filesOf(runId: string): LeaseFile[] {
    const names = this.#names().filter((name) => name.startsWith(`${runId}@`));
    return this.#filesNamed(names);
  }

  #files(): LeaseFile[] {
    return this.#filesNamed(this.#names());
  }

  #filesNamed(names: readonly string[]): LeaseFile[] {
    return names.flatMap((name) => {
      const [, runId, epoch] = NAME_PATTERN.exec(name) ?? [];
      if (runId === undefined) return [];
      return [{ runId, epoch: Number(epoch), path: join(this.#folder, name) }];
    });
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'list the leases', this.#folder);
    }
  }
}

export class FileLease implements Lease {
  readonly runId: string;
  readonly epoch: number;
  readonly #path: string;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(path: string, runId: string, epoch: number) {
    this.#path = path;
    this.runId = runId;
    this.epoch = epoch;
    this.#heartbeat = setInterval(() => this.renew(), HEARTBEAT_MS).unref();
  }

  /** Whether this lease is still the run's newest. Throws E_STORAGE when that cannot be seen: a tool of this user may have closed the folder. */
  isHeld(): boolean {
    if (existsSync(this.#path)) return true;
    try {
      return statSync(this.#path, { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      throw storageError(error, 'read the lease', this.#path);
    }
  }

  async renew(): Promise<boolean> {
    const now = new Date();
    try {
      utimesSync(this.#path, now, now);
      return true;
    } catch {
      // Superseded, or the disk became read-only: the next write of the run reports that.
      return existsSync(this.#path);
    }
  }

  /** Frees the space that was reserved for the end of the run. */
  releaseReserve(): void {
    try {
      truncateSync(this.#path, OWNER_BYTES);
    } catch {
      // Superseded: this lease and its reserve are already removed.
    }
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    removeIfPossible(this.#path);
  }

  /** Marks the run as lost: a lease without an owner is lost. Truncating works on a full disk. */
  async abandon(): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      truncateSync(this.#path, 0);
    } catch {
      // Superseded: the run belongs to another supervisor.
    }
  }
}

/** Undefined when the file does not exist. */
function stateOfFile(path: string): Pick<HeldLease, 'state' | 'renewedMs'> | undefined {
  let lease: { text: string; renewedMs: number };
  try {
    lease = readLease(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(error, 'read the lease', path);
  }
  const { text, renewedMs } = lease;
  const owner = parseOwner(text);
  // A live owner's lease is complete: this one was abandoned, or its machine crashed.
  if (owner === undefined || !isOwned(owner, renewedMs, path)) return { state: 'lost', renewedMs };
  return { state: owner.recovers ? 'recovering' : 'live', renewedMs };
}

function isOwned(owner: LeaseOwner, renewedMs: number, path: string): boolean {
  switch (stateOfOwner(owner)) {
    case 'running':
      return owner.folder === undefined || owner.folder === statSync(dirname(path)).ino;
    case 'gone':
      return false;
    case 'elsewhere':
      // A clock that was set back makes the age negative.
      return Math.abs(Date.now() - renewedMs) <= EXPIRY_MS;
  }
}

/** Opens the file for each read: a network file system reports the modification time as of the open. */
function readLease(path: string): { text: string; renewedMs: number } {
  const fd = openOwn(path);
  try {
    const bytes = Buffer.alloc(OWNER_BYTES);
    const count = readSync(fd, bytes, 0, bytes.length, 0);
    return { text: bytes.toString('utf8', 0, count), renewedMs: fstatSync(fd).mtimeMs };
  } finally {
    closeSync(fd);
  }
}

function parseOwner(text: string): LeaseOwner | undefined {
  try {
    const owner = JSON.parse(text);
    return typeof owner?.pid === 'number' ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** On a full disk the reserve is left out, and there is no file: the next write of the run reports the error. */
function writeWithReserve(path: string, owner: string): boolean {
  try {
    writeFileSync(path, owner.padEnd(OWNER_BYTES + RESERVE_BYTES), { flag: 'wx' });
    return true;
  } catch (error) {
    // The folder of the leases is missing, or the name is taken: a write without the reserve would fail as well.
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EEXIST') throw error;
    removeIfPossible(path);
    return false;
  }
}

/** E_STORAGE, and not because of the disk: the run has a supervisor already, or another process recovers, packs or removes it. */
export class HeldByAnother extends AcorError {
  constructor(runId: string, state: LeaseState = 'live') {
    if (state === 'recovering')
      super('E_STORAGE', `another process recovers, packs or removes run ${runId} at this moment`, {
        hint: 'Try again when it is done.',
        next: [showRun(runId)],
      });
    else
      super('E_STORAGE', `run ${runId} already has a supervisor`, {
        hint: 'Follow it to its end.',
        next: [attachTo(runId)],
      });
  }
}
