import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { holdsRedaction } from '../../protocol/redaction-mark.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { ArtifactMeter } from '../store-files/artifacts.ts';
import type { PackedArtifacts } from './packed-artifacts.ts';
import type { CheckedLog } from './verify-log.ts';

/** An artifact from a log, which another program may have changed. */
interface RecordedArtifact {
  path: string;
  sha256?: unknown;
}

/** The artifacts of the last `runner_end`; a changed log may contain anything there. */
export function artifactsOf({ ends }: CheckedLog): RecordedArtifact[] {
  const named: unknown = ends.at(-1)?.event.artifacts;
  return Array.isArray(named) ? named.filter((artifact) => typeof artifact?.path === 'string') : [];
}

/** Whether a later run of this store, whose own log is intact, recorded this content for a path. */
type IsReplaced = (path: string, sha256: string) => Promise<boolean>;

/** Why an artifact is not what its run recorded; undefined when it is, or when a later run recorded what is there now. */
export function checkArtifact(
  recorded: RecordedArtifact,
  packed: PackedArtifacts,
  isReplaced: IsReplaced,
): Promise<string | undefined> {
  return holdsRedaction(recorded.path)
    ? checkRenamed(recorded, packed)
    : checkFile(recorded, packed, isReplaced);
}

async function checkFile(
  recorded: RecordedArtifact,
  packed: PackedArtifacts,
  isReplaced?: IsReplaced,
): Promise<string | undefined> {
  try {
    const sha256 = packed.sha256(recorded.path) ?? (await measured(packed.pathNow(recorded.path)));
    if (sha256 === recorded.sha256 || (await isReplaced?.(recorded.path, sha256))) return undefined;
    return `its sha256 is ${sha256} now; ${recorded.sha256} was recorded`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'it is gone';
    if (error instanceof AcorError) return error.code === 'E_PROTOCOL' ? 'it is gone' : error.message;
    return `it cannot be read: ${errorMessage(error)}`;
  }
}

async function measured(path: string): Promise<string> {
  // The project's path may contain a symbolic link.
  const meter = new ArtifactMeter([realpathSync(dirname(path))], () => {});
  return (await meter.measure(path)).sha256;
}

/** A name with a secret was recorded redacted: it must match one of the names in the folder. */
async function checkRenamed(
  { path, sha256: recorded }: RecordedArtifact,
  packed: PackedArtifacts,
): Promise<string | undefined> {
  const folder = dirname(path);
  if (holdsRedaction(folder))
    return 'its path contained a secret and was recorded redacted, so the file cannot be found';
  const names = packed.namesIn(folder) ?? namesIn(packed.pathNow(folder));
  for (const name of names) {
    const problem = await checkFile({ path: join(folder, name), sha256: recorded }, packed);
    if (problem === undefined) return undefined;
  }
  return 'its name contained a secret and was recorded redacted, and no file in its folder has the recorded sha256';
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
