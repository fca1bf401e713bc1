import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { holdsRedaction } from '../../protocol/redaction-mark.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { ArtifactMeter } from '../store-files/artifacts.ts';
import { HiddenPaths } from './hidden-paths.ts';
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

/** Compares the recorded artifacts of one run with what is there now. */
export class ArtifactCheck {
  readonly #packed: PackedArtifacts;
  readonly #isReplaced: IsReplaced;
  readonly #hidden: HiddenPaths;
  readonly #sha256s = new Map<string, Promise<string>>();

  constructor(packed: PackedArtifacts, isReplaced: IsReplaced) {
    this.#packed = packed;
    this.#isReplaced = isReplaced;
    this.#hidden = new HiddenPaths(packed);
  }

  /** Why an artifact is not what its run recorded; undefined when it is, or when a later run recorded what is there now. */
  problemOf(recorded: RecordedArtifact): Promise<string | undefined> {
    return holdsRedaction(recorded.path) ? this.#problemOfHidden(recorded) : this.#problemOfFile(recorded);
  }

  async #problemOfFile(recorded: RecordedArtifact): Promise<string | undefined> {
    try {
      const sha256 = await this.#sha256(recorded.path);
      if (await this.#isRecorded(recorded, sha256)) return undefined;
      return `its sha256 is ${sha256} now; ${recorded.sha256} was recorded`;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return 'it is gone';
      if (error instanceof AcorError) return error.code === 'E_PROTOCOL' ? 'it is gone' : error.message;
      return `it cannot be read: ${errorMessage(error)}`;
    }
  }

  /** A path with a secret was recorded redacted: one of the paths that it may have been must have the content. No answer names such a path. */
  async #problemOfHidden(recorded: RecordedArtifact): Promise<string | undefined> {
    for (const path of await this.#hidden.matching(recorded.path)) {
      const sha256 = await this.#sha256(path).catch(() => undefined);
      if (sha256 !== undefined && (await this.#isRecorded(recorded, sha256))) return undefined;
    }
    return 'its path contained a secret and was recorded redacted, and no file at such a path has the recorded sha256';
  }

  async #isRecorded({ path, sha256: recorded }: RecordedArtifact, sha256: string): Promise<boolean> {
    return sha256 === recorded || (await this.#isReplaced(path, sha256));
  }

  /** Kept, because many redacted paths may be one file. */
  #sha256(path: string): Promise<string> {
    const known = this.#sha256s.get(path) ?? this.#measured(path);
    this.#sha256s.set(path, known);
    return known;
  }

  async #measured(path: string): Promise<string> {
    const packed = this.#packed.sha256(path);
    if (packed !== undefined) return packed;
    const now = this.#packed.pathNow(path);
    // The project's path may contain a symbolic link.
    const meter = new ArtifactMeter([realpathSync(dirname(now))], () => {});
    return (await meter.measure(now)).sha256;
  }
}
