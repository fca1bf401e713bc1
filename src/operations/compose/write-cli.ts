import { BUILTIN_COMMANDS } from '../../compose/builtins/names.ts';
import { GLOBAL_FLAGS } from '../../compose/globals.ts';
import type { OldArgument, OldCommandCall } from '../../compose/old-program.ts';
import type { OldCommand, OldCommands, OldOption } from '../../core/authoring/codemod/old-commands.ts';
import { effectOf } from '../../core/authoring/contract/effects.ts';
import { sentence } from '../../util/sentence.ts';

/** A command of the new command line. */
export interface NewCommand {
  command: string;
  operation: string;
  effect: 'reads' | 'writes' | 'destroys';
  /** The words of the old command. */
  replaces: string[];
}

interface Written extends NewCommand {
  text: string;
}

/** Global flags that a command may have itself. */
const OWN_ALLOWED = ['limit', 'offset'];

/** The modules of a command line on the kit whose handlers call the old program: `old` is its module, relative to them. */
export function writeCli(
  program: OldCommands,
  { old, name, version, summary, kit }: Record<'old' | 'name' | 'version' | 'summary' | 'kit', string>,
): { commands: NewCommand[]; files: { name: string; text: string }[] } {
  const shown = program.commands.filter(({ hidden }) => !hidden);
  const written = shown.map((each) => operationOf(each, name));
  const aliases = Object.fromEntries(
    shown.flatMap((each, at) =>
      each.aliases.flatMap((words) => (words.length === 1 ? [[words[0]!, written[at]!.command]] : [])),
    ),
  );
  const owned = {
    flags: [
      ...new Set(program.commands.flatMap(({ options }) => options.map((option) => option.name))),
    ].filter((flag) => GLOBAL_FLAGS.some((each) => each.name === flag)),
    words: [
      ...new Set(program.commands.flatMap((each) => [each.words, ...each.aliases].map(([first]) => first))),
    ].filter((word) => word !== undefined),
  };
  const commands = `// The commands of ${name} on the kit, written by \`acor compose codemod\` from its definition with ${program.library}. They call the old program.
import { defineCli, defineOperation, oldAnswer, oldProgram, z } from ${text(kit)};

/** Its exit codes and their error codes; others are E_FAILED. */
const old = oldProgram(new URL(${text(old)}, import.meta.url), {});

export const cli = defineCli({
  name: ${text(name)},
  version: ${text(version)},
  summary: ${text(firstLine(summary || program.summary || `The command line of ${name}.`))},
  errors: {
    E_FAILED: {
      class: 'failed',
      retryable: false,
      exit: 1,
      action: 'Read the message and details.stderr, and correct the call.',
      hint: 'See details.stderr for what the old program wrote.',
    },
  },${Object.keys(aliases).length === 0 ? '' : `\n  aliases: ${literal(aliases)},`}
  commands: {
${written.map(({ command, text: body }) => `    ${text(command)}: ${body},`).join('\n')}
  },
});
`;
  const agent = `// The command line for agents: every answer is an envelope, except at a terminal.
import { serve } from ${text(kit)};
import { cli } from './commands.ts';

await serve(cli);
`;
  const main = `// The old name: the old program for people and scripts, the new command line for agents.
import { serveBeside } from ${text(`${kit}/beside`)};

// What the old program has of the kit's flags and commands: they stay its own.
const owned = ${literal(owned)};

await serveBeside(new URL(${text(old)}, import.meta.url), owned, () => import('./agent.ts'));
`;
  return {
    commands: written.map(({ text: _text, ...each }) => each),
    files: [
      { name: 'commands.ts', text: commands },
      { name: 'agent.ts', text: agent },
      { name: 'main.ts', text: main },
    ],
  };
}

function operationOf(old: OldCommand, program: string): Written {
  const words = old.words.length === 0 ? ['run'] : old.words;
  const plain = words.join(' ');
  const command = BUILTIN_COMMANDS.some((each) => each === plain) ? `old ${plain}` : plain;
  const parts = command.split(' ').map(idOf);
  const operation = `${parts.length === 1 ? idOf(program) : parts[0]}.${(parts.length === 1 ? parts : parts.slice(1)).join('-')}`;
  const summary = firstLine(old.summary || `Call ${program} ${plain}.`);
  const judged = effectOf({ name: words.at(-1)!, text: old.summary });
  const effect = judged === 'unknown' ? 'writes' : judged;
  const asJson = old.options.find(({ name, type }) => name === 'json' && type === 'boolean');
  const inputs: string[] = [];
  const call: OldCommandCall = {
    words: old.separator === ' ' ? old.words : [old.words.join(old.separator)],
    arguments: [],
    ...(asJson?.on && { always: [asJson.on] }),
    output: asJson === undefined ? 'lines' : 'json',
  };
  const taken = new Set<string>();
  const keyFor = (name: string) => {
    const isGlobal = GLOBAL_FLAGS.some((flag) => flag.name === name.replaceAll('_', '-'));
    const bare = name.replace(/[^A-Za-z0-9]+/g, '_').replace(/^(?=\d)/, '_');
    const key = (isGlobal && !OWN_ALLOWED.includes(name)) || taken.has(bare) ? `old_${bare}` : bare;
    taken.add(key);
    return key;
  };
  const declared: OldArgument[] = [];
  const positionals = old.positionals.map((each) => {
    const key = keyFor(each.name);
    const one = schemaOf(each.type, each.choices);
    const many = each.many ? `z.array(${one})${each.required ? '.min(1)' : ''}` : one;
    inputs.push(
      `${key}: ${many}${each.required ? '' : '.optional()'}${described(each.summary || each.name)}`,
    );
    declared.push({ key });
    return key;
  });
  const letters = new Set(GLOBAL_FLAGS.flatMap(({ short }) => short ?? []));
  for (const option of old.options) {
    if (option === asJson) continue;
    const key = keyFor(option.name);
    const letter = letterOf(option, letters);
    const short = letter === undefined ? '' : `.meta({ short: ${text(letter)} })`;
    inputs.push(`${key}: ${typeOf(option, key)}${short}${described(option.summary || option.name)}`);
    declared.push(argumentOf(option, key));
  }
  if (!taken.has('stdin')) {
    inputs.push(`stdin: z.boolean().default(false).describe('Pass standard input to the old program.')`);
    call.stdin = 'stdin';
  }
  if (effect !== 'reads' && !taken.has('dry_run')) {
    inputs.push(
      `dry_run: z.boolean().default(false).describe('Show the call of the old program, and make none.')`,
    );
    call.showsCall = true;
  }
  const example = [program, command, ...exampleOf(old)].join(' ');
  const body = `defineOperation({
      name: ${text(operation)},
      summary: ${text(old.deprecated ? `Deprecated: ${summary}` : summary)},
      effect: ${text(effect)},
      idempotent: ${effect === 'reads'},
      rateLimit: null,
      input: z.object({${inputs.map((each) => `\n        ${each},`).join('')}${inputs.length === 0 ? '' : '\n      '}}),
      output: oldAnswer,
      list: 'lines',${positionals.length === 0 ? '' : `\n      positionals: ${literal(positionals)},`}
      example: ${text(example)},
      run: (input, ctx) => old.run(${literal({ ...call, arguments: declared })}, input, ctx),
    })`;
  return { command, operation, effect, replaces: old.words, text: body };
}

/** The letter of an option, where neither the kit nor another option has it. */
function letterOf({ short }: OldOption, taken: Set<string>): string | undefined {
  const letter = short?.replace(/^-+/, '') ?? '';
  if (!/^[A-Za-z]$/.test(letter) || taken.has(letter)) return undefined;
  taken.add(letter);
  return letter;
}

function argumentOf(option: OldOption, key: string): OldArgument {
  return {
    key,
    on: option.on,
    ...(option.off !== null && { off: option.off }),
    ...(option.level >= 0 && { level: option.level }),
    ...(option.default !== undefined && { default: option.default }),
    ...(option.bare && { bare: true }),
    ...(option.type === 'count' && { counts: true }),
  };
}

function typeOf(option: OldOption, key: string): string {
  const { type, choices, many, required } = option;
  if (key === 'dry_run' && type === 'boolean') return 'z.boolean().default(false)';
  const one = schemaOf(type, choices);
  const whole = many ? `z.array(${one})` : one;
  if (option.default !== undefined && !many && fits(option))
    return `${whole}.default(${literal(option.default)})`;
  return required ? whole : `${whole}.optional()`;
}

/** Whether the default is a value of the type: that of `--port <n>` may be a number, which its parser made. */
function fits({ type, choices, default: value }: OldOption): boolean {
  if (choices !== null) return choices.includes(value as string);
  return typeof value === (type === 'count' ? 'number' : type);
}

function schemaOf(type: OldOption['type'], choices: OldOption['choices']): string {
  if (choices !== null && choices.length > 0)
    return choices.every((each) => typeof each === 'string')
      ? `z.enum(${literal(choices)})`
      : `z.literal(${literal(choices)})`;
  if (type === 'count') return 'z.int()';
  return `z.${type}()`;
}

function exampleOf({ positionals, options }: OldCommand): string[] {
  const places = positionals
    .filter(({ required }) => required)
    .map(({ name, choices }) => String(choices?.[0] ?? name.toUpperCase()));
  const flags = options
    .filter(({ required, name }) => required && name !== 'json')
    .flatMap(({ name, choices }) => [`--${name}`, String(choices?.[0] ?? name.toUpperCase())]);
  return [...places, ...flags];
}

function described(summary: string): string {
  return `.describe(${text(firstLine(summary))})`;
}

function firstLine(summary: string): string {
  return sentence(summary.trim().split('\n')[0]!);
}

function idOf(word: string): string {
  const plain = word
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+|-+$/g, '');
  return plain === '' ? 'command' : plain;
}

function text(value: string): string {
  return literal(value);
}

/** A value as source of TypeScript. */
function literal(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, each]) => `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : literal(key)}: ${literal(each)}`)
      .join(', ')} }`;
  return JSON.stringify(value);
}
