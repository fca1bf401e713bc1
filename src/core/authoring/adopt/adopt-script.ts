import { basename } from 'node:path';
import { type Adopted, reportOf, toolName } from './adopt.ts';
import { type DraftInput, type DraftInputs, draftInputs } from './draft-inputs.ts';
import { draftManifest } from './draft-manifest.ts';
import { type FoundHelp, findHelp } from './find-help.ts';
import type { HelpPlace } from './help-place.ts';
import type { ReadHelp } from './help-shape.ts';
import { offersOf } from './offers.ts';
import type { ScriptToAdopt } from './script.ts';

/**
 * Drafts the manifest of a script from its help. Nothing is wrong with a script that prints none: its manifest accepts
 * every argument, as the script without a manifest did.
 */
export async function adoptScript(
  place: HelpPlace,
  script: ScriptToAdopt,
  { name: wanted, modeline }: { name: string | undefined; modeline: string | null },
): Promise<Adopted> {
  const shown = basename(script.path);
  const answer = await findHelp(place, [shown]);
  const found = typeof answer === 'string' ? withoutHelp(shown, answer) : answer;
  const { help, source, text } = found;
  const inputs = typeof answer === 'string' ? null : described(draftInputs(help));
  const name = toolName(wanted ?? script.name, new Set());
  const offered = offersOf(text, help, inputs?.leftOut ?? []).filter(() => inputs !== null);
  const manifest = draftManifest({
    ...{ name, modeline, source, help, inputs, offered, reads: [] },
    ...keysOf(script, found),
  });
  const report = reportOf(source, help, inputs ?? { inputs: [], leftOut: [] });
  const draft = { name, command: [script.entry ?? shown], manifest, ...report, offered };
  return { drafts: [draft], asked: found.asked, passed_over: [] };
}

function withoutHelp(shown: string, why: string): FoundHelp {
  const help: ReadHelp = {
    description: '',
    options: [],
    positionals: [],
    commands: [],
    unread: [`its help: ${why}; every argument is accepted`],
  };
  const asked = [
    [shown, '--help'],
    [shown, '-h'],
    [shown, 'help'],
  ];
  return { help, text: '', source: shown, asked };
}

/** All keys that `validate --strict` asks for, as far as the help says it; the comments say what to check. */
function keysOf(
  { path, entry, writesProtocol }: ScriptToAdopt,
  { help, works }: FoundHelp,
): Pick<Parameters<typeof draftManifest>[0], 'first' | 'last' | 'comments'> {
  return {
    first: {
      ...(help.description === '' && { description: `The script ${basename(path)}.` }),
      ...(entry !== undefined && { entry }),
      ...(!writesProtocol && { adapter: 'plain' }),
    },
    last: {
      timeout_s: 1800,
      exit_codes: { ok: 0, fatal_error: 1, fatal_usage: 2 },
      effects: 'writes',
      ...(works && { health: { selftest: [...works] } }),
    },
    comments: {
      permissions:
        ' Add what the tool needs besides its path arguments: filesystem.read and .write, network.egress_allow (host:port), commands.',
      effects: ' CHECK: reads, writes or destroys',
    },
  };
}

/** The inputs, each with a description. */
export function described({ inputs, leftOut }: DraftInputs): DraftInputs {
  return { inputs: inputs.map(withDescription), leftOut };
}

function withDescription(input: DraftInput): DraftInput {
  const { name, flag, positional, description } = input.keys;
  if (description !== undefined) return input;
  const spelling = flag ?? `--${String(name).replaceAll('_', '-')}`;
  return {
    ...input,
    keys: { ...input.keys, description: positional ? `The operand ${name}.` : `The option ${spelling}.` },
    doubts: [...input.doubts, 'the help says nothing about it'],
  };
}
