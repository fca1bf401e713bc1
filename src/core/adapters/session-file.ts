import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AdapterContext } from '../run/attempt/adapter.ts';

/**
 * Saves the id of an agent's session as the checkpoint `session`, as the SDKs do, so that the next attempt can resume
 * it. The tool can write this folder, so the file is opened first and written through the descriptor, and no link is
 * followed.
 */
export function keepSession(
  { intake, layout }: AdapterContext,
  session: { agent: string; session_id: string; version: number },
): void {
  const { version, ...data } = session;
  let folder: number | undefined;
  try {
    folder = openSync(layout.checkpoints, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const throughFd = `/proc/self/fd/${folder}`;
    const stored = { stage: 'session', version, saved_at: new Date().toISOString(), data };
    writeAtomic(
      join(existsSync(throughFd) ? throughFd : layout.checkpoints, 'session.json'),
      `${JSON.stringify(stored)}\n`,
    );
  } catch (error) {
    intake.warnOnce(
      'session',
      undefined,
      `the session of ${data.agent} could not be saved: ${errorMessage(error)}`,
    );
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}
