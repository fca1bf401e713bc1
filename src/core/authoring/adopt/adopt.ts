import { basename } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { runProgram, SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { type DraftInput, type DraftInputs, describedInputs, draftInputs } from './draft-inputs.ts';
import { assumedKeys, draftManifest } from './draft-manifest.ts';
import { type FoundHelp, findHelp, withFurtherTexts } from './find-help.ts';
import type { HelpPlace } from './help-place.ts';
import type { ReadHelp } from './help-shape.ts';
import { type Offer, offersOf } from './offers.ts';

const MAX_TOOLS = 200;
const MAX_NAME = 64;

/** A request to adopt a program. */
export interface AdoptRequest {
  program: string;
  /** The `entry` of the manifest for a tool of this name. */
  programFor(name: string): string;
  /** The line that names the schema for editors, in the manifest of a tool of this name. */
  modelineFor(name: string): string | null;
  subcommand: readonly string[];
  name?: string | undefined;
  recursive: boolean;
  depth: number;
  reads: readonly string[];
}

/** A drafted manifest, with its doubts. */
export interface Draft {
  name: string;
  command: string[];
  manifest: string;
  inputs: number;
  /** Which inputs each source gave, the help of the program first. */
  sources: { source: string; inputs: string[] }[];
  /** For each input, what a person should check. */
  uncertain: { input: string; check: string }[];
  left_out: string[];
  not_understood: string[];
  /** Keys that a person may add to the manifest. */
  offered: Offer[];
  /** Whether a call without inputs is refused. */
  needsInput: boolean;
}

/** All drafts of a program, and the commands that were run to get them. */
export interface Adopted {
  drafts: Draft[];
  asked: string[][];
  /** Subcommands without usable help of their own, or beyond the limits. */
  passed_over: { command: string[]; why: string }[];
}

/**
 * Drafts manifests from the help of a program, and with `recursive` of its subcommands. Throws E_TOOL_FAILED when the
 * program prints no usable help.
 */
export async function adopt(place: HelpPlace, request: AdoptRequest, signal: AbortSignal): Promise<Adopted> {
  const adopted: Adopted = { drafts: [], asked: [], passed_over: [] };
  const shown = basename(request.program);
  const root = await findHelp(place, [shown, ...request.subcommand]);
  if (typeof root === 'string') throw nothingRead(request, root);
  const seen = new Set<string>();
  const names = new Set<string>();
  const pending: { found: FoundHelp; subcommand: readonly string[]; depth: number }[] = [
    { found: root, subcommand: request.subcommand, depth: 0 },
  ];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const { found, subcommand, depth } = next;
    const words = [shown, ...subcommand];
    adopted.asked.push(...found.asked);
    seen.add(fingerprint(found));
    const children = found.help.commands.map(({ name }) => [...subcommand, ...name.split(' ')]);
    // When each subcommand becomes a tool, a program that only dispatches to them does not.
    const isGroup = request.recursive && children.length > 0 && depth < request.depth;
    if (!isGroup)
      adopted.drafts.push(draftOf(request, withFurtherTexts(place, words, found), words, subcommand, names));
    if (!isGroup) continue;
    for (const child of children) {
      signal.throwIfAborted();
      if (child.at(-1) === 'help') continue;
      if (adopted.drafts.length + pending.length >= MAX_TOOLS) {
        adopted.passed_over.push({ command: [shown, ...child], why: `more than ${MAX_TOOLS} tools` });
        continue;
      }
      const help = await findHelp(place, [shown, ...child]);
      if (typeof help === 'string') adopted.passed_over.push({ command: [shown, ...child], why: help });
      else if (seen.has(fingerprint(help)))
        adopted.passed_over.push({
          command: [shown, ...child],
          why: 'its help equals that of another command',
        });
      else {
        seen.add(fingerprint(help));
        pending.push({ found: help, subcommand: child, depth: depth + 1 });
      }
    }
  }
  // No subcommand has usable help: adopt the program as one tool.
  if (adopted.drafts.length === 0) {
    const words = [shown, ...request.subcommand];
    const found = withFurtherTexts(place, words, root);
    adopted.drafts.push(draftOf(request, found, words, request.subcommand, names));
  }
  return adopted;
}

/** Equal fingerprints reveal an alias, or a word that the program does not treat as a subcommand. */
function fingerprint({ text }: FoundHelp): string {
  return text.trim();
}

function draftOf(
  request: AdoptRequest,
  { help, source, text, works }: FoundHelp,
  words: readonly string[],
  subcommand: readonly string[],
  names: Set<string>,
): Draft {
  const below = subcommand.slice(request.subcommand.length);
  const name = toolName(
    [request.name ?? words.slice(0, 1 + request.subcommand.length).join('-'), ...below].join('-'),
    names,
  );
  const inputs = describedInputs(draftInputs(help));
  const command = [request.programFor(name), ...subcommand];
  const offered = offersOf(text, help, inputs.leftOut);
  const manifest = draftManifest({
    ...{ name, source, help, inputs, offered, reads: request.reads, modeline: request.modelineFor(name) },
    first: {
      ...(help.description === '' && { description: `The program ${words.join(' ')}.` }),
      command: [...command],
      adapter: 'plain',
    },
    last: assumedKeys(argumentsBehind(subcommand, works)),
  });
  const needsInput = inputs.inputs.some(({ keys }) => keys['required'] === true);
  return { name, command, manifest, ...reportOf(source, help, inputs), offered, needsInput };
}

/** The arguments behind the subcommand, which the manifest has in its command. */
function argumentsBehind(
  subcommand: readonly string[],
  works: readonly string[] | undefined,
): readonly string[] | undefined {
  return subcommand.every((word, at) => works?.[at] === word) ? works?.slice(subcommand.length) : undefined;
}

/** What the answer says of the inputs of a draft. */
export function reportOf(
  source: string,
  help: ReadHelp,
  { inputs, leftOut }: DraftInputs,
): Pick<Draft, 'inputs' | 'sources' | 'uncertain' | 'left_out' | 'not_understood'> {
  return {
    inputs: inputs.length,
    sources: sourcesOf(source, inputs),
    uncertain: inputs.flatMap(({ keys, doubts }) =>
      doubts.map((check) => ({ input: String(keys['name']), check })),
    ),
    left_out: leftOut,
    not_understood: help.unread,
  };
}

function sourcesOf(first: string, inputs: readonly DraftInput[]): Draft['sources'] {
  const sources = new Map<string, string[]>([[first, []]]);
  for (const { keys, source = first } of inputs) {
    const names = sources.get(source) ?? [];
    names.push(String(keys['name']));
    sources.set(source, names);
  }
  return [...sources].map(([source, names]) => ({ source, inputs: names }));
}

/** The nearest valid tool name that no other draft has. */
export function toolName(wanted: string, taken: Set<string>): string {
  const bare = wanted
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, MAX_NAME - 3)
    .replace(/[-_]+$/, '');
  for (let count = 1; ; count++) {
    const name = count === 1 ? bare || 'tool' : `${bare}-${count}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

/** A program without help can still be run as it is. */
function nothingRead({ program, subcommand }: AdoptRequest, why: string): AcorError {
  const name = basename(program);
  const words = [name, ...subcommand].join(' ');
  return new AcorError('E_TOOL_FAILED', `'${words}' cannot be adopted: ${why}`, {
    hint: `ACOR ran these in the sandbox: ${words} --help, ${words} -h and ${[name, 'help', ...subcommand].join(' ')}. Write a manifest by hand, with command: [${[name, ...subcommand].join(', ')}].`,
    next: [runProgram(program, subcommand), SEE_HEALTH],
  });
}
