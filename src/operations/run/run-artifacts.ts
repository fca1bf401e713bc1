import { basename } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { MeasuredArtifact } from '../../core/store-files/artifacts.ts';
import { pathNow } from '../../core/store-files/path-now.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { listArtifacts, type NextStep } from '../../protocol/next-steps.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { artifactShape, runId } from '../shapes.ts';
import { artifactsOf, type FoundArtifact, listedArtifacts } from './artifacts-of.ts';

export const runArtifacts = acorOperation({
  name: 'run.artifacts',
  summary: 'List the artifacts of a run and of its steps: path, size, hash, media type.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ run: runId }),
  output: z.object({
    run_id: z.string(),
    artifacts: z.array(artifactShape),
  }),
  positionals: ['run'],
  list: 'artifacts',
  example: 'acor artifacts r-0123456789abcdef',
  async run(input, ctx) {
    return {
      kind: 'data',
      data: { run_id: input.run, artifacts: await listedArtifacts(ctx.app, input.run) },
    };
  },
});

const DEFAULT_BYTES = 65_536;
const MAX_BYTES = 8_388_608;
const PART_BYTES = 1_048_576;

export const runArtifact = acorOperation({
  name: 'run.artifact',
  summary: 'Read an artifact of a run, or a part of it: text as it is, other bytes as base64.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: runId,
    artifact: z.string().describe('The path, as the run lists it, or the number in that list, from 1.'),
    from: z.int().min(0).default(0).describe('The first byte to read.'),
    bytes: z
      .int()
      .min(1)
      .max(MAX_BYTES)
      .optional()
      .describe('How many bytes to read at most: by default 65536, as text 8388608.'),
  }),
  output: z.object({
    run_id: z.string(),
    path: z.string(),
    media_type: z.string(),
    size: z.int().describe('Of the whole artifact, in bytes.'),
    sha256: z.string(),
    from: z.int(),
    bytes: z.int().describe('How many bytes `content` covers.'),
    encoding: z.enum(['utf8', 'base64']),
    content: z.string(),
  }),
  positionals: ['run', 'artifact'],
  example: 'acor artifact r-0123456789abcdef 1',
  moreExamples: [
    'acor artifact r-0123456789abcdef report.json --from 65536',
    'acor artifact last report.json --format text > report.json',
  ],
  async run({ run, artifact: name, from, bytes: most }, ctx) {
    const bytes = most ?? (ctx.structured ? DEFAULT_BYTES : MAX_BYTES);
    const { store } = await ctx.app.project();
    const { madeBy, ...artifact } = find(
      await artifactsOf(ctx.app, run),
      pathNow(store.root, run, name),
      run,
    );
    const read = await store.blobs.read(madeBy, artifact, { from, bytes });
    const text = textOf(read, from + read.length >= artifact.size);
    const { path, media_type, size, sha256 } = artifact;
    const length = text?.length ?? read.length;
    const data = {
      ...{ run_id: run, path, media_type, size, sha256, from, bytes: length },
      encoding: text === undefined ? ('base64' as const) : ('utf8' as const),
      content: text?.content ?? read.toString('base64'),
    };
    const rest = from + length;
    // A reader of text gets the artifact itself.
    if (!ctx.structured && text !== undefined && rest >= size)
      return { kind: 'document', document: text.content, data };
    if (!ctx.structured && (text === undefined || (most === undefined && rest < size))) {
      const read = (part: { from: number; bytes: number }) => store.blobs.read(madeBy, artifact, part);
      const last = Math.min(size, from + (most ?? size));
      return { kind: 'bytes', bytes: parts(read, from, last), refusal: noText(ctx.app, run, name, artifact) };
    }
    if (length === 0 || rest >= size) return { kind: 'data', data };
    return { kind: 'data', data, hasMore: true, next: [restOf(run, name, rest)] };
  },
});

async function* parts(
  read: (part: { from: number; bytes: number }) => Promise<Buffer>,
  from: number,
  end: number,
): AsyncGenerator<Uint8Array, void> {
  for (let at = from; at < end; ) {
    const part = await read({ from: at, bytes: Math.min(PART_BYTES, end - at) });
    if (part.length === 0) return;
    yield part;
    at += part.length;
  }
}

/** A terminal gets no bytes, and no text that is longer than a person reads. */
function noText(
  app: AcorApp,
  run: string,
  artifact: string,
  { path, media_type, size }: MeasuredArtifact,
): AppError {
  const asText = app.commandOf({ operation: 'run.artifact', input: { run, artifact }, why: '' });
  const command = `${asText} --format text > ${shellCommand([basename(path)])}`;
  return new AppError(
    'E_USAGE',
    `'${basename(path)}' is not text for a terminal: ${media_type}, ${size} bytes`,
    {
      hint: 'Write it to a file, or into a pipe.',
      next: [{ command, why: 'Write the bytes to a file.' }],
    },
  );
}

function restOf(run: string, artifact: string, from: number): NextStep {
  return {
    operation: 'run.artifact',
    input: { run, artifact, from },
    why: 'Read the next part of the artifact.',
  };
}

/** Finds an artifact by its path, its number, or the end of its path if only one artifact matches. */
function find(artifacts: readonly FoundArtifact[], name: string, run: string): FoundArtifact {
  const files = artifacts.filter(({ kind }) => kind === 'file');
  const byEnd = files.filter(({ path }) => path.endsWith(`/${name}`));
  const numbered = /^\d+$/.test(name) ? artifacts[Number(name) - 1] : undefined;
  const found =
    files.find(({ path }) => path === name) ?? numbered ?? (byEnd.length === 1 ? byEnd[0] : undefined);
  if (found?.kind === 'file') return found;
  throw new AcorError('E_INPUT_NOT_FOUND', `run ${run} has no file '${name}' among its artifacts`, {
    hint: 'Use the path or the number of an artifact in the list.',
    details: { artifacts: files.map(({ path }) => path) },
    next: [listArtifacts(run)],
  });
}

/** Decodes bytes as UTF-8; undefined when they are not text. A character that is cut off at the end is left for the next part. */
function textOf(bytes: Buffer, isLast: boolean): { content: string; length: number } | undefined {
  for (let cut = 0; cut <= (isLast ? 0 : 3) && cut < bytes.length + 1; cut++) {
    const part = bytes.subarray(0, bytes.length - cut);
    try {
      return {
        content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part),
        length: part.length,
      };
    } catch {
      // The last character may be cut off: try with fewer bytes.
    }
  }
  return undefined;
}
