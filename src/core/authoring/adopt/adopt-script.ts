import { basename } from 'node:path';
import { type Adopted, reportOf, toolName } from './adopt.ts';
import { describedInputs, draftInputs } from './draft-inputs.ts';
import { assumedKeys, draftManifest } from './draft-manifest.ts';
import { type FoundHelp, findHelp } from './find-help.ts';
import type { HelpPlace } from './help-place.ts';
import type { ReadHelp } from './help-shape.ts';
import { offersOf } from './offers.ts';
import type { ScriptToAdopt } from './script.ts';

/**
 * Drafts the manifest of a script from its help. Nothing is wrong with a script that prints none: its manifest accepts
 * every argument, as the script without a manifest did, and so does that of a script with subcommands.
 */
export async function adoptScript(
  place: HelpPlace,
  script: ScriptToAdopt,
  { name: wanted, modeline }: { name: string | undefined; modeline: string | null },
): Promise<Adopted> {
  const shown = basename(script.path);
  const answer = await findHelp(place, [shown]);
  const found = typeof answer === 'string' ? withoutHelp(shown, answer) : withCommands(answer);
  const { help, source, text } = found;
  const isOpen = typeof answer === 'string' || help.commands.length > 0;
  const inputs = isOpen ? null : describedInputs(draftInputs(help));
  const name = toolName(wanted ?? script.name, new Set());
  const offered = offersOf(text, help, inputs?.leftOut ?? []).filter(() => inputs !== null);
  const manifest = draftManifest({
    ...{ name, modeline, source, help, inputs, offered, reads: [] },
    ...keysOf(script, found),
  });
  const report = reportOf(source, help, inputs ?? { inputs: [], leftOut: [] });
  const needsInput = inputs?.inputs.some(({ keys }) => keys['required'] === true) ?? false;
  const draft = { name, command: [script.entry ?? shown], manifest, ...report, offered, needsInput };
  return { drafts: [draft], asked: found.asked, passed_over: [] };
}

/** The inputs of a manifest have no subcommands, each with options of its own. */
function withCommands(found: FoundHelp): FoundHelp {
  const { help } = found;
  if (help.commands.length === 0) return found;
  const names = help.commands.map(({ name }) => name).join(', ');
  const note = `the options of its subcommands (${names}): every argument is accepted`;
  return { ...found, help: { ...help, unread: [...help.unread, note] } };
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
): Pick<Parameters<typeof draftManifest>[0], 'first' | 'last'> {
  return {
    first: {
      ...(help.description === '' && { description: `The script ${basename(path)}.` }),
      ...(entry !== undefined && { entry }),
      ...(!writesProtocol && { adapter: 'plain' }),
    },
    last: assumedKeys(works),
  };
}
