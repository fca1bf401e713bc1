import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunLog, RunWriter } from '../../ports/run-store.ts';
import type { Runtime } from '../../process/runtime.ts';
import { heldValue } from '../../sandbox/held-value.ts';
import type { SecretFiles } from '../../sandbox/sandbox.ts';
import { Redaction } from '../../secrets/redaction.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { RunWorkspace } from '../workspace.ts';
import { searchArtifacts } from './search-artifacts.ts';
import { clearSecrets, fillSecrets } from './secrets-folder.ts';

/** What a run knows that nobody else is to learn. A run without any has none of these, and loads nothing of this. */
export class RunSecrets {
  /** The stored secrets that the manifest asks for: what the secrets folder, or a sandbox, delivers to the tool. */
  readonly delivered: readonly Secret[];
  /** Keeps these, and the values of secret inputs, out of all that is told of the run. */
  readonly redaction: Redaction;

  constructor(delivered: readonly Secret[], inputs: readonly Secret[]) {
    this.delivered = delivered;
    this.redaction = new Redaction([...delivered, ...inputs]);
  }

  /** From now on nothing that this writer puts down holds a secret. */
  guard(writer: RunWriter): void {
    writer.redactWith((line) => this.redaction.line(line));
  }

  /** Puts the tool's secrets into its folder, for one attempt in a sandbox that cannot take them from `handed`. */
  deliver(layout: RunWorkspace): void {
    if (this.delivered.length > 0) fillSecrets(layout, this.delivered);
  }

  /** The same for a sandbox that makes the files itself: no file of the machine ever holds them. */
  handed(runtime: Runtime, layout: RunWorkspace): SecretFiles {
    const files = this.delivered.map(({ name, bytes }) => ({
      name,
      open: () => heldValue(runtime, layout.dir, bytes),
    }));
    return { folder: layout.secrets, files };
  }

  /** The attempt is over, however it ended. */
  withdraw(log: RunLog, workspace: RunWorkspace): void {
    try {
      if (this.delivered.length > 0) clearSecrets(workspace);
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      log.append({ type: 'runner_warning', code: error.code, msg: error.message });
    }
  }

  /** Artifacts are the tool's work and are left as they are: whoever takes one is told what is in it. */
  warnOfArtifacts({ log }: RunWriter, artifacts: readonly MeasuredArtifact[]): void {
    const { found, isWhole } = searchArtifacts(this.redaction, artifacts);
    for (const { path, secrets } of found) {
      const msg = `the artifact ${path} gives away: ${secrets.join(', ')}`;
      log.append({ type: 'runner_warning', msg, artifact: path, secrets });
    }
    if (!isWhole)
      log.append({ type: 'runner_warning', msg: 'not all artifacts could be searched for secrets' });
  }

  /** The run is over: returns what may be told of it, and removes the filed answers that hold a secret. Resumed, it asks again. */
  conclude<T>({ answers }: RunWorkspace, summary: T): T {
    try {
      for (const entry of readdirSync(answers, { withFileTypes: true })) {
        const path = join(answers, entry.name);
        if (entry.isFile() && this.redaction.spansIn(readFileSync(path)).length > 0) rmSync(path);
      }
    } catch {
      // The tool has meddled with the folder; that must not keep the run from telling how it ended.
    }
    return this.redaction.data(summary);
  }
}
