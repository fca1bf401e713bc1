import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunWorkspace } from '../ports/run-workspace.ts';

const MAX_BYTES = 65_536;
const MAX_ID_CHARS = 256;

/**
 * The id of the conversation that an executor has left as the checkpoint `session`; undefined when there is none. The file lies where the
 * executor could write: no link is followed, and what comes of it is a text of one line.
 */
export function sessionLeftIn({ checkpoints }: RunWorkspace): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(
      join(checkpoints, 'session.json'),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const id: unknown = JSON.parse(readFileSync(fd, 'utf8'))?.data?.session_id;
    // It becomes a word of a command line: what looks like a flag would be taken for one.
    const isId = typeof id === 'string' && id.length <= MAX_ID_CHARS && /^[A-Za-z0-9][\w.:-]*$/.test(id);
    return isId ? id : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
