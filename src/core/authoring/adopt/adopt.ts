import { basename } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import type { HelpPlace } from './ask-for-help.ts';
import { draftInputs } from './draft-inputs.ts';
import { draftManifest } from './draft-manifest.ts';
import { type FoundHelp, findHelp } from './find-help.ts';

const MAX_TOOLS = 200;
const MAX_NAME = 64;

/** What is to be adopted. */
export interface AdoptRequest {
  program: string;
  /** How the manifest of a tool of this name starts it. */
  programFor(name: string): string;
  subcommand: readonly string[];
  name?: string | undefined;
  recursive: boolean;
  depth: number;
  reads: readonly string[];
}

/** A manifest that was drafted, and how well. */
export interface Draft {
  name: string;
  command: string[];
  manifest: string;
  inputs: number;
  /** Per input, what a person should look at. */
  uncertain: { input: string; check: string }[];
  left_out: string[];
  not_understood: string[];
}

/** All drafts of a program, and what was run to get them. */
export interface Adopted {
  drafts: Draft[];
  asked: string[][];
  /** Subcommands that told no help of their own, or went beyond the limits. */
  passed_over: { command: string[]; why: string }[];
}

/**
 * Drafts manifests from the help of a program, and of its subcommands with `recursive`. Throws E_TOOL_FAILED where the program tells
 * nothing that could be read.
 */
export async function adopt(place: HelpPlace, request: AdoptRequest, signal: AbortSignal): Promise<Adopted> {
  const adopted: Adopted = { drafts: [], asked: [], passed_over: [] };
  const shown = basename(request.program);
  const root = await findHelp(place, [shown, ...request.subcommand]);
  if (typeof root === 'string') throw nothingRead(shown, request.subcommand, root);
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
    const children = found.help.commands.map(({ name }) => [...subcommand, name]);
    // With its subcommands adopted each by itself, a program that only leads to them is no tool.
    const isGroup = request.recursive && children.length > 0 && depth < request.depth;
    if (!isGroup) adopted.drafts.push(draftOf(request, found, words, subcommand, names));
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
        adopted.passed_over.push({ command: [shown, ...child], why: 'tells the same help as another' });
      else {
        seen.add(fingerprint(help));
        pending.push({ found: help, subcommand: child, depth: depth + 1 });
      }
    }
  }
  // None of its subcommands tells anything: then it is adopted as it is.
  if (adopted.drafts.length === 0)
    adopted.drafts.push(draftOf(request, root, [shown, ...request.subcommand], request.subcommand, names));
  return adopted;
}

/** By which an alias, or a word that the program takes for no subcommand at all, is found out. */
function fingerprint({ text }: FoundHelp): string {
  return text.trim();
}

function draftOf(
  request: AdoptRequest,
  { help, asked }: FoundHelp,
  words: readonly string[],
  subcommand: readonly string[],
  names: Set<string>,
): Draft {
  const below = subcommand.slice(request.subcommand.length);
  const name = toolName(
    [request.name ?? words.slice(0, 1 + request.subcommand.length).join('-'), ...below].join('-'),
    names,
  );
  const inputs = draftInputs(help);
  const command = [request.programFor(name), ...subcommand];
  const manifest = draftManifest({ name, command, asked: asked.at(-1)!, help, inputs, reads: request.reads });
  return {
    name,
    command,
    manifest,
    inputs: inputs.inputs.length,
    uncertain: inputs.inputs.flatMap(({ keys, doubts }) =>
      doubts.map((check) => ({ input: String(keys['name']), check })),
    ),
    left_out: inputs.leftOut,
    not_understood: help.unread,
  };
}

/** The nearest name that a tool may have, and that no other draft has. */
function toolName(wanted: string, taken: Set<string>): string {
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

function nothingRead(program: string, subcommand: readonly string[], why: string): AcorError {
  const words = [program, ...subcommand].join(' ');
  return new AcorError('E_TOOL_FAILED', `'${words}' cannot be adopted: ${why}`, {
    hint: `Asked in the sandbox: ${words} --help, ${words} -h and ${[program, 'help', ...subcommand].join(' ')}. Write a manifest by hand, with command: [${[program, ...subcommand].join(', ')}].`,
    next: [SEE_HEALTH],
  });
}
