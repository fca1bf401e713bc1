import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { SecretInjection } from '../../../protocol/manifest-secrets.ts';
import { holdsRedaction } from '../../../protocol/redaction-mark.ts';
import type { RunLog, RunWriter } from '../../ports/run-store.ts';
import type { Runtime } from '../../process/runtime.ts';
import type { SecretFiles } from '../../sandbox/sandbox.ts';
import { heldValue } from '../../sandbox/scratch-file.ts';
import { Redaction } from '../../secrets/redaction.ts';
import type { Secret } from '../../secrets/secret.ts';
import { filesUnder, type MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { RunWorkspace } from '../workspace.ts';
import { RunInjector } from './run-injector.ts';
import { clearSecrets, fillSecrets } from './secrets-folder.ts';

/** The secrets of a run: delivers them to the tool, and redacts them everywhere else. A run without secrets does not load this module. */
export class RunSecrets {
  /** The stored secrets that the manifest names. The tool gets them as files; of an injected one it gets a placeholder. */
  readonly delivered: readonly Secret[];
  /** Puts the others into the tool's requests; undefined when there are none. */
  readonly injector: RunInjector | undefined;
  /** Redacts them, and the values of secret inputs, in everything that ACOR stores or shows. */
  readonly redaction: Redaction;

  constructor(
    stored: readonly Secret[],
    inputs: readonly Secret[],
    injections: readonly Pick<SecretInjection, 'name' | 'placeholder'>[] = [],
  ) {
    const placeholders = new Map(injections.map(({ name, placeholder }) => [name, placeholder]));
    const injected = stored.filter(({ name }) => placeholders.has(name));
    this.injector = injected.length > 0 ? new RunInjector(injected) : undefined;
    this.delivered = stored.map(({ name, bytes }) => {
      const placeholder = placeholders.get(name);
      return { name, bytes: placeholder === undefined ? bytes : Buffer.from(placeholder) };
    });
    this.redaction = new Redaction([...stored, ...inputs], new Set(placeholders.keys()));
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

  /** The path of a file whose path was redacted in what the tool reported; the path as it is where there is no such file. */
  fileOf(path: string): string {
    return this.#fileIn('/', path.slice(1)) ?? path;
  }

  #fileIn(folder: string, reported: string): string | undefined {
    if (!holdsRedaction(reported)) return join(folder, reported);
    const name = reported.split('/', 1)[0]!;
    if (!holdsRedaction(name)) return this.#fileIn(join(folder, name), reported.slice(name.length + 1));
    return this.#fileAmong(folder, '', reported);
  }

  /** Looks at the entries of a folder, and of those below it in whose paths a secret goes on: `a/b` where `a` is a folder. */
  #fileAmong(folder: string, begun: string, reported: string): string | undefined {
    for (const name of namesIn(join(folder, begun))) {
      const path = begun + name;
      const shown = reported.startsWith(path) ? path : this.redaction.text(path);
      if (shown === reported) return join(folder, path);
      const found = reported.startsWith(`${shown}/`)
        ? this.#fileIn(join(folder, path), reported.slice(shown.length + 1))
        : this.#mayGoOn(`${path}/`, reported) && this.#fileAmong(folder, `${path}/`, reported);
      if (found) return found;
    }
    return undefined;
  }

  #mayGoOn(path: string, reported: string): boolean {
    const begun = this.redaction.beginningAtEnd(path);
    const shown = Buffer.from(this.redaction.text(path));
    return begun > 0 && reported.startsWith(shown.subarray(0, -begun).toString());
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The total size up to which the artifacts of a run are searched: more would delay the end of the run. */
const MAX_SEARCHED_BYTES = 512 * 1024 * 1024;
const CHUNK_BYTES = 1 << 18;

/** An artifact, and the names of the secrets in its name or content. */
interface LeakyArtifact {
  path: string;
  secrets: string[];
}

/** The bytes that may still be searched, and whether everything was searched so far. */
interface Budget {
  bytes: number;
  isWhole: boolean;
}

/** Searches the artifacts of a run for secrets; `isWhole` is false when some of them could not be searched. */
function searchArtifacts(
  redaction: Redaction,
  artifacts: readonly MeasuredArtifact[],
): { found: LeakyArtifact[]; isWhole: boolean } {
  const budget: Budget = { bytes: MAX_SEARCHED_BYTES, isWhole: true };
  const found = artifacts.flatMap(({ path, kind }) => {
    const inName = redaction.spansIn(Buffer.from(path)).map(({ name }) => name);
    const files = kind === 'file' ? [path] : filesIn(path);
    const inFiles = files.flatMap((file) => secretsIn(redaction, file, budget));
    const secrets = [...new Set([...inName, ...inFiles])].sort();
    return secrets.length === 0 ? [] : [{ path, secrets }];
  });
  return { found, isWhole: budget.isWhole };
}

function filesIn(folder: string): string[] {
  return filesUnder(folder).map((name) => join(folder, name));
}

function secretsIn(redaction: Redaction, path: string, budget: Budget): string[] {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) throw new Error('no longer a regular file');
    return readThrough(redaction, fd, budget);
  } catch {
    budget.isWhole = false;
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readThrough(redaction: Redaction, fd: number, budget: Budget): string[] {
  const search = redaction.search();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (;;) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    const found = search(chunk.subarray(0, count));
    budget.bytes -= count;
    if (budget.bytes < 0) budget.isWhole = false;
    if (count === 0 || budget.bytes < 0) return [...found];
  }
}
