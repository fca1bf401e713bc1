#!/usr/bin/env bun
/**
 * `doubles` finds files with equal content, and removes the copies. A command line made with `acor/compose`:
 *
 *   bun examples/compose/doubles.ts copies list ~/Pictures -m 10000
 *   bun examples/compose/doubles.ts copies remove ~/Pictures --dry-run
 *   bun examples/compose/doubles.ts files hash ~/Pictures --fields path --limit 3
 *   bun examples/compose/doubles.ts mcp
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError, createKit, eventsResult, serve, z } from 'acor/compose';

interface Doubles {
  cwd: string;
}

const { defineCli, defineOperation } = createKit<Doubles>();

const group = z.object({
  hash: z.string().describe('The SHA-256 of the content.'),
  bytes: z.int().describe('The size of one copy.'),
  files: z.array(z.string()).describe('The first one is the one that stays.'),
});

const where = {
  folder: z.string().default('.').describe('The folder, with all folders in it.'),
  min_size: z
    .int()
    .min(0)
    .default(1)
    .meta({ short: 'm', env: 'DOUBLES_MIN_SIZE', config: 'min_size' })
    .describe('Only files of so many bytes.'),
};

const listCopies = defineOperation({
  name: 'copies.list',
  summary: 'List the files with equal content.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object(where),
  output: z.object({ folder: z.string(), copies: z.array(group) }),
  positionals: ['folder'],
  list: 'copies',
  example: 'doubles copies list photos --min-size 10000',
  async run({ folder, min_size }, ctx) {
    const path = folderAt(ctx.app, folder);
    return {
      kind: 'data',
      data: { folder: path, copies: copiesIn(path, min_size) },
      next: [
        { operation: 'copies.remove', input: { folder, dry_run: true }, why: 'See what would be removed.' },
      ],
    };
  },
});

const removeCopies = defineOperation({
  name: 'copies.remove',
  summary: 'Remove all copies but the first of each file.',
  effect: 'destroys',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    ...where,
    dry_run: z.boolean().default(false).describe('Remove nothing, and list the files.'),
  }),
  output: z.object({ removed: z.array(z.string()), bytes: z.int(), dry_run: z.boolean() }),
  positionals: ['folder'],
  list: 'removed',
  example: 'doubles copies remove photos --dry-run',
  async run({ folder, min_size, dry_run }, ctx) {
    const copies = copiesIn(folderAt(ctx.app, folder), min_size);
    const removed = copies.flatMap(({ files }) => files.slice(1));
    if (!dry_run) for (const file of removed) rmSync(file);
    const bytes = copies.reduce((sum, each) => sum + each.bytes * (each.files.length - 1), 0);
    return { kind: 'data', data: { removed, bytes, dry_run } };
  },
});

/** A stream: each file as soon as it is read, and how many there were at the end. */
const hashFiles = defineOperation({
  name: 'files.hash',
  summary: 'Write the SHA-256 of each file.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object(where),
  output: z.object({ files: z.int() }),
  positionals: ['folder'],
  streams: 'path, bytes and sha256 of a file, one JSON object a line.',
  example: 'doubles files hash photos --fields path,sha256',
  async run({ folder, min_size }, ctx) {
    let files = 0;
    async function* lines() {
      for (const { path, bytes } of filesIn(folderAt(ctx.app, folder))) {
        if (bytes < min_size) continue;
        files++;
        yield Buffer.from(`${JSON.stringify({ path, bytes, sha256: hashOf(path) })}\n`);
      }
    }
    return eventsResult(lines(), {
      stream: true,
      left: undefined,
      end: async () => ({ answer: { kind: 'data', data: { files } } }),
    });
  },
});

/** The name of version 0: it still works, and says what replaces it. */
const scan = defineOperation({
  ...listCopies,
  name: 'copies.scan',
  deprecated: { use: 'doubles copies list', since: '1.0.0' },
  example: 'doubles scan photos',
});

export const doubles = defineCli({
  name: 'doubles',
  version: '1.0.0',
  summary: 'Finds files with equal content.',
  commands: {
    'copies list': listCopies,
    'copies remove': removeCopies,
    'files hash': hashFiles,
    scan,
  },
  errors: {
    E_NO_FOLDER: {
      class: 'user_error',
      retryable: false,
      exit: 1,
      action: 'Ask for the right folder; do not retry.',
      hint: 'Name a folder that exists.',
    },
  },
  context: (_globals, { cwd }) => ({ cwd }),
  checks: ({ cwd }) => [
    isReadable(cwd)
      ? { name: 'folder', status: 'ok', detail: `${cwd} can be read` }
      : { name: 'folder', status: 'blocked', detail: `${cwd} cannot be read`, fix: `chmod u+rx ${cwd}` },
  ],
});

function folderAt({ cwd }: Doubles, folder: string): string {
  const path = resolve(cwd, folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new AppError('E_NO_FOLDER', `${path} is not a folder`);
}

/** Groups of equal files, the largest first. Only files of equal size are read. */
function copiesIn(folder: string, minSize: number): z.output<typeof group>[] {
  const bySize = Map.groupBy(filesIn(folder), ({ bytes }) => bytes);
  const candidates = [...bySize].filter(([bytes, { length }]) => bytes >= minSize && length > 1);
  return candidates
    .flatMap(([bytes, same]) => {
      const byHash = Map.groupBy(same, ({ path }) => hashOf(path));
      return [...byHash]
        .filter(([, equal]) => equal.length > 1)
        .map(([hash, equal]) => ({ hash, bytes, files: equal.map(({ path }) => path) }));
    })
    .sort((a, b) => b.bytes - a.bytes || (a.hash < b.hash ? -1 : 1));
}

/** The files of a folder and of the folders in it, by their path. */
function filesIn(folder: string): { path: string; bytes: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path, bytes: statSync(path).size }));
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) await serve(doubles);
