import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Document, isMap, isSeq, type Node, type YAMLMap } from 'yaml';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode } from '../../../util/error-code.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { refuseWritingOut } from '../../config/stay-inside.ts';
import type { DraftInputs } from './draft-inputs.ts';
import type { ReadHelp } from './help-shape.ts';
import type { Offer } from './offers.ts';

/** The parts of a draft. */
interface DraftParts {
  name: string;
  /** The keys before the inputs: what starts the program, for example. */
  first: Readonly<Record<string, unknown>>;
  /** The keys behind the permissions. */
  last: Readonly<Record<string, unknown>>;
  /** The line that names the schema for editors. */
  modeline?: string | null;
  /** Where their help was found first. */
  source: string;
  help: ReadHelp;
  /** Null when nothing is known of them: every argument is accepted. */
  inputs: DraftInputs | null;
  /** Keys that a person may add. They become comments. */
  offered: readonly Offer[];
  /** The paths that the program needs besides the base system. */
  reads: readonly string[];
}

const MAX_COMMENT = 200;

/** The text of a `tool.yaml`. Doubts become comments at the input that they concern. */
export function draftManifest(parts: DraftParts): string {
  const { name, first, last, modeline, source, help, offered, reads } = parts;
  const inputs = parts.inputs ?? { inputs: [], leftOut: [] };
  const manifest = {
    name,
    version: '0.0.0-draft',
    ...(help.description !== '' && { description: help.description }),
    category: 'adopted',
    ...first,
    ...(parts.inputs !== null && { inputs: inputs.inputs.map(({ keys }) => keys) }),
    permissions: reads.length > 0 ? { filesystem: { read: [...reads] } } : {},
    ...last,
  };
  const document = new Document(manifest, { aliasDuplicateObjects: false });
  const head = commentOf(headOf(source, inputs, help));
  document.commentBefore = modeline ? ` ${modeline}\n${head}` : head;
  const list = document.get('inputs');
  if (isSeq(list)) {
    for (const [index, item] of list.items.entries()) {
      if (!isMap(item)) continue;
      keepShort(item);
      const { doubts, source: from } = inputs.inputs[index]!;
      const comments = [
        ...(from === undefined ? [] : [`From ${from}.`]),
        ...doubts.map((doubt) => `CHECK: ${doubt}`),
      ];
      if (comments.length > 0) (item as Node).commentBefore = commentOf(comments);
    }
  }
  for (const [key, comment] of Object.entries(KEY_COMMENTS)) commentOn(document, key, comment);
  const offers = offered.flatMap(({ key, value, why }) => [`Perhaps, since ${why}:`, `${key}: ${value}`]);
  if (offers.length > 0) commentOn(document, 'inputs', commentOf(offers));
  return document.toString({ lineWidth: 0 });
}

const KEY_COMMENTS: Readonly<Record<string, string>> = {
  permissions:
    ' Add what the tool needs besides its path arguments: filesystem.read and .write, network.egress_allow (host:port), commands.',
  effects: ' CHECK: reads, writes or destroys',
};

/** Which files a drafted tool finds. */
export const FOUND_FILES =
  'It starts in an empty folder of its own, and finds only the files and folders that its inputs of type path name. To let it start in the project and read all of it, add: cwd: project';

/** The keys that `validate --strict` asks for and the help does not say. `works` are arguments that ended with exit code 0. */
export function assumedKeys(works: readonly string[] | undefined): Record<string, unknown> {
  return {
    timeout_s: 1800,
    exit_codes: { ok: 0, fatal_error: 1, fatal_usage: 2 },
    effects: 'writes',
    ...(works && works.length > 0 && { health: { selftest: [...works] } }),
  };
}

function commentOn(document: Document, key: string, comment: string): void {
  if (!isMap(document.contents)) return;
  const pair = document.contents.items.find((each) => (each.key as { value?: unknown }).value === key);
  if (pair !== undefined) (pair.key as Node & { commentBefore?: string }).commentBefore = comment;
}

function headOf(source: string, { inputs, leftOut }: DraftInputs, { unread }: ReadHelp): string[] {
  const further = new Set(inputs.flatMap(({ source: from }) => from ?? []));
  return [
    `DRAFT: generated from ${source}, which may be wrong or incomplete. Review it, then set a version without -draft.`,
    FOUND_FILES,
    ...[...further].map((each) => `An input from ${each} says so.`),
    ...leftOut.map((each) => `Omitted: ${each}`),
    ...unread.map((each) => `Not understood: ${each}`),
  ];
}

/** Untrusted text must not end the comment that contains it. */
function commentOf(lines: readonly string[]): string {
  return lines
    .map((line) => ` ${line.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').slice(0, MAX_COMMENT)}`)
    .join('\n');
}

/** A list of words goes on one line. */
function keepShort(item: YAMLMap): void {
  for (const key of ['enum', 'default']) {
    const list = item.get(key);
    if (isSeq(list)) list.flow = true;
  }
}

type PlacedDraft = Readonly<{ file: string; manifest: string }>;

/** Throws E_USAGE when one of the files exists, and E_PERMISSION when a link leads one out of the project. */
export function checkDrafts(
  drafts: readonly PlacedDraft[],
  project: Pick<LoadedConfig, 'root' | 'trust'>,
): void {
  const there = drafts.map(({ file }) => file).filter((file) => existsSync(file));
  if (there.length > 0) throw alreadyThere(there);
  for (const { file } of drafts) refuseWritingOut(file, project);
}

/** Writes new manifests and never overwrites a file. */
export function writeDrafts(drafts: readonly PlacedDraft[]): void {
  for (const { file, manifest } of drafts) {
    mkdirSync(dirname(file), { recursive: true });
    try {
      writeFileSync(file, manifest, { flag: 'wx' });
    } catch (error) {
      throw errorCode(error) === 'EEXIST' ? alreadyThere([file]) : error;
    }
  }
}

function alreadyThere(files: readonly string[]): AcorError {
  return new AcorError('E_USAGE', `the manifest already exists: ${files.join(', ')}`, {
    hint: 'ACOR overwrites nothing. Use a different --name or --output, or remove the file first.',
    details: { files },
  });
}
