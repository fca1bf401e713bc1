import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunLog, RunWriter } from '../../ports/run-store.ts';
import type { Runtime } from '../../process/runtime.ts';
import type { SecretFiles } from '../../sandbox/sandbox.ts';
import { heldValue } from '../../sandbox/scratch-file.ts';
import { Redaction } from '../../secrets/redaction.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { RunWorkspace } from '../workspace.ts';
import { searchArtifacts } from './search-artifacts.ts';
import { clearSecrets, fillSecrets } from './secrets-folder.ts';

/** The secrets of a run: delivers them to the tool, and redacts them everywhere else. A run without secrets does not load this module. */
export class RunSecrets {
  /** The stored secrets that the manifest names. The tool gets them as files. */
  readonly delivered: readonly Secret[];
  /** Redacts them, and the values of secret inputs, in everything that ACOR stores or shows. */
  readonly redaction: Redaction;

  constructor(delivered: readonly Secret[], inputs: readonly Secret[]) {
    this.delivered = delivered;
    this.redaction = new Redaction([...delivered, ...inputs]);
  }

  /** Makes the writer redact every line that it writes from now on. */
  guard(writer: RunWriter): void {
    writer.redactWith((line) => this.redaction.line(line));
  }

  /** Writes the tool's secrets to its secrets folder for one attempt, when the sandbox does not support `sandboxFiles`. */
  deliver(layout: RunWorkspace): void {
    if (this.delivered.length > 0) fillSecrets(layout, this.delivered);
  }

  /** The secrets for a sandbox that creates the files itself, in memory: they are never written to disk. */
  sandboxFiles(runtime: Runtime, layout: RunWorkspace): SecretFiles {
    const files = this.delivered.map(({ name, bytes }) => ({
      name,
      open: () => heldValue(runtime, layout.dir, bytes),
    }));
    return { folder: layout.secrets, files };
  }

  /** Removes the secrets of the tool at the end of an attempt. */
  withdraw(log: RunLog, workspace: RunWorkspace): void {
    try {
      if (this.delivered.length > 0) clearSecrets(workspace);
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      log.append({ type: 'runner_warning', code: error.code, msg: error.message });
    }
  }

  /** Warns of artifacts that contain a secret. Artifacts are never redacted: they are the tool's output. */
  warnOfArtifacts({ log }: RunWriter, artifacts: readonly MeasuredArtifact[]): void {
    const { found, isWhole } = searchArtifacts(this.redaction, artifacts);
    for (const { path, secrets } of found) {
      const msg = `the artifact ${path} contains the secrets: ${secrets.join(', ')}`;
      log.append({ type: 'runner_warning', msg, artifact: path, secrets });
    }
    if (!isWhole)
      log.append({ type: 'runner_warning', msg: 'some artifacts could not be searched for secrets' });
  }

  /** At the end of the run: redacts its summary, and removes the answer files that contain a secret. A resumed run asks again. */
  conclude<T>({ answers }: RunWorkspace, summary: T): T {
    try {
      for (const entry of readdirSync(answers, { withFileTypes: true })) {
        const path = join(answers, entry.name);
        if (entry.isFile() && this.redaction.spansIn(readFileSync(path)).length > 0) rmSync(path);
      }
    } catch {
      // The tool has changed the folder; that must not prevent the end of the run.
    }
    return this.redaction.data(summary);
  }
}
