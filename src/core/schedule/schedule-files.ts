import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_SCHEDULES } from '../../protocol/next-steps.ts';
import { errorCode } from '../../util/error-code.ts';
import { isLocked, withFileLock } from '../../util/file-lock.ts';
import { nearest } from '../../util/nearest.ts';
import { PrivateFiles } from '../../util/private-files.ts';
import { newSha256 } from '../../util/sha256.ts';
import { userFolder } from '../config/find.ts';
import { notStored, writePrivately } from '../config/write-privately.ts';
import type { Schedule } from './schedule.ts';

/**
 * The schedules of a project, in the user's data folder and never in the project: a project that was cloned must not start runs by itself.
 * Commands and the server change them under a lock.
 */
export class ScheduleFiles {
  readonly folder: string;
  /** Held by the one process that runs the schedules of the project. */
  readonly lock: string;
  readonly #root: string;
  readonly #files: PrivateFiles<Schedule>;

  constructor(root: string, env: Readonly<Record<string, string | undefined>>) {
    const data = userFolder('XDG_DATA_HOME', join('.local', 'share'), env);
    this.#root = root;
    this.folder = join(data, 'schedules', newSha256().update(root).digest('hex'));
    this.lock = join(this.folder, 'serve.lock');
    this.#files = new PrivateFiles(this.folder, (found) => found.version === 1 && found.root === root);
  }

  /** Makes the folder, which can then be watched. */
  prepare(): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw notStored('the schedule', this.folder, error);
    }
  }

  /** Whether a process runs the schedules now. */
  isServed(): boolean {
    return isLocked(this.lock);
  }

  list(): Schedule[] {
    return this.#files.list().sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): Schedule | undefined {
    return this.#files.read(fileOf(name));
  }

  /** Throws E_USAGE when there is none. */
  get(name: string): Schedule {
    const found = this.find(name);
    if (found !== undefined) return found;
    const near = nearest(
      name,
      this.list().map((each) => each.name),
    );
    throw new AcorError('E_USAGE', `there is no schedule ${JSON.stringify(name)} in ${this.#root}`, {
      hint: near === undefined ? 'List the schedules.' : `Did you mean ${near}?`,
      next: [LIST_SCHEDULES],
    });
  }

  /** Throws E_USAGE when the name is taken. */
  async add(schedule: Schedule): Promise<void> {
    this.prepare();
    await this.#exclusively(() => {
      this.refuseTaken(schedule.name);
      this.#write(schedule);
    });
  }

  /** Throws E_USAGE when the name is taken. */
  refuseTaken(name: string): void {
    if (this.find(name) === undefined) return;
    throw new AcorError('E_USAGE', `there is a schedule ${JSON.stringify(name)} already`, {
      hint: 'Give the new one another --name, or remove the old one first.',
      next: [
        { operation: 'schedule.show', input: { name }, why: 'See the schedule of this name.' },
        { operation: 'schedule.remove', input: { name }, why: 'Remove it.' },
      ],
    });
  }

  /** Changes a schedule as it is now. `change` returns undefined to leave it. Returns undefined then, and when it was removed. */
  async change(name: string, change: (now: Schedule) => Schedule | undefined): Promise<Schedule | undefined> {
    return this.#exclusively(() => {
      const now = this.find(name);
      const changed = now && change(now);
      if (changed !== undefined) this.#write(changed);
      return changed;
    });
  }

  async remove(name: string): Promise<void> {
    await this.#exclusively(() => this.#files.remove(fileOf(name)));
  }

  async #exclusively<T>(work: () => T): Promise<T> {
    try {
      return await withFileLock(join(this.folder, 'change.lock'), work);
    } catch (error) {
      throw errorCode(error) === undefined ? error : notStored('the schedule', this.folder, error);
    }
  }

  #write(schedule: Schedule): void {
    writePrivately(this.#files, fileOf(schedule.name), schedule, 'the schedule');
  }
}

function fileOf(name: string): string {
  return `${name}.json`;
}
