// Loads a command line on commander, yargs or oclif, and prints its commands as one line of JSON instead of performing one:
//   node read-commands.mjs FILE [--oclif FOLDER]
import { realpathSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const MARK = 'acor-commands ';
const [given, mode, folder] = process.argv.slice(2);
const file = realpathSync(given);
const require = createRequire(file);

function answer(library, root, commands) {
  writeSync(1, `\n${MARK}${JSON.stringify({ library, ...root, commands })}\n`);
  process.exit(0);
}

/** The module that the program itself loads. */
async function own(name) {
  try {
    const path = require.resolve(name);
    return { loaded: await import(pathToFileURL(path).href) };
  } catch {
    return undefined;
  }
}

const plain = (value) => (['string', 'number', 'boolean'].includes(typeof value) ? value : undefined);
const textOf = (value) => (typeof value === 'string' ? value.replace(/^__yargsString__:/, '') : '');

function readCommander(program) {
  const commands = [];
  const optionsOf = (command, level) =>
    command.options
      .filter(
        ({ hidden, long, attributeName }) =>
          !hidden && attributeName !== undefined && long !== command._versionOption?.long,
      )
      .map((each) => ({
        level,
        name: (each.long ?? each.short).replace(/^-+(no-)?/, ''),
        on: each.negate ? null : (each.long ?? each.short),
        off: each.negate ? each.long : null,
        short: each.short ?? null,
        type: each.required || each.optional ? 'string' : 'boolean',
        bare: each.optional === true,
        many: each.variadic === true || Array.isArray(each.defaultValue),
        choices: each.argChoices ?? null,
        default: each.negate ? undefined : plain(each.defaultValue),
        required: each.mandatory === true && each.defaultValue === undefined,
        summary: each.description ?? '',
      }));
  const walk = (command, words, aliases, above) => {
    const options = [...above, ...optionsOf(command, words.length)];
    const isGroup = command.commands.length > 0;
    if (command._actionHandler != null || command._executableHandler || !isGroup)
      commands.push({
        words,
        aliases,
        summary: command.summary() || command.description(),
        hidden: command._hidden === true,
        deprecated: false,
        options,
        positionals: command.registeredArguments.map((each) => ({
          name: each.name(),
          required: each.required && each.defaultValue === undefined,
          many: each.variadic === true,
          choices: each.argChoices ?? null,
          type: 'string',
          summary: each.description ?? '',
        })),
      });
    for (const each of command.commands) {
      if (each.name() === 'help') continue;
      const names = each.aliases().map((alias) => [...words, alias]);
      walk(each, [...words, each.name()], names, options);
    }
  };
  walk(program, [], [], []);
  answer(
    'commander',
    { name: program.name(), version: program.version() ?? '', summary: program.description() },
    commands,
  );
}

function readYargs(instance, make) {
  const commands = [];
  const optionsOf = (one, positionals) => {
    const known = one.getOptions();
    const summaries = one.getInternalMethods().getUsageInstance().getDescriptions();
    const aliasNames = new Set(Object.values(known.alias).flat());
    const names = new Set([...Object.keys(known.key), ...Object.keys(summaries)]);
    const has = (list, name) =>
      (known[list] ?? []).some((each) => [name, ...(known.alias[name] ?? [])].includes(each));
    return [...names]
      .filter((name) => !aliasNames.has(name) || known.alias[name] !== undefined)
      .filter((name, at, all) => !all.slice(0, at).some((other) => (known.alias[other] ?? []).includes(name)))
      .filter((name) => !['help', 'version', ...positionals].includes(name) && !has('hiddenOptions', name))
      .map((name) => ({
        level: -1,
        name,
        on: name.length === 1 ? `-${name}` : `--${name}`,
        off: has('boolean', name) && name.length > 1 ? `--no-${name}` : null,
        short: (known.alias[name] ?? []).find((each) => each.length === 1) ?? null,
        type: has('boolean', name)
          ? 'boolean'
          : has('count', name)
            ? 'count'
            : has('number', name)
              ? 'number'
              : 'string',
        bare: false,
        many: has('array', name),
        choices: known.choices[name] ?? null,
        default: plain(known.default[name]),
        required: name in known.demandedOptions && known.default[name] === undefined,
        summary: textOf(summaries[name]),
      }));
  };
  const built = (handler) => {
    const one = make([]);
    if (typeof handler.builder === 'function') handler.builder(one, false);
    else for (const [name, option] of Object.entries(handler.builder ?? {})) one.option(name, option);
    return one;
  };
  const walk = (one, words, above) => {
    const { handlers, defaultCommand } = one.getInternalMethods().getCommandInstance();
    const all = [...Object.entries(handlers), ...(defaultCommand ? [['$0', defaultCommand]] : [])];
    for (const [name, handler] of all) {
      const inner = built(handler);
      const path = name === '$0' ? words : [...words, name];
      const places = [
        ...handler.demanded.map((each) => [each, true]),
        ...handler.optional.map((each) => [each, false]),
      ];
      const positionals = places.map(([each]) => each.cmd[0]);
      const known = inner.getOptions();
      const summaries = inner.getInternalMethods().getUsageInstance().getDescriptions();
      const nested = Object.keys(inner.getInternalMethods().getCommandInstance().handlers).length > 0;
      const options = [...above, ...optionsOf(inner, positionals)];
      // A group has a handler only to report that its command is missing.
      if (!nested && handler.description !== false)
        commands.push({
          words: path,
          aliases: aliasesOf(one, name).map((alias) => [...words, alias]),
          summary: textOf(handler.description),
          hidden: false,
          deprecated: handler.deprecated === true || typeof handler.deprecated === 'string',
          options: options.filter(
            ({ name: option }, at) => options.findIndex((each) => each.name === option) === at,
          ),
          positionals: places.map(([each, required]) => ({
            name: each.cmd[0],
            required,
            many: each.variadic,
            choices: known.choices[each.cmd[0]] ?? null,
            type: known.number.includes(each.cmd[0]) ? 'number' : 'string',
            summary: textOf(summaries[each.cmd[0]]),
          })),
        });
      if (nested) walk(inner, path, options);
    }
    if (words.length === 0 && all.length === 0)
      commands.push({
        words,
        aliases: [],
        summary: '',
        hidden: false,
        deprecated: false,
        options: optionsOf(one, []),
        positionals: [],
      });
  };
  walk(instance, [], optionsOf(instance, []));
  answer('yargs', { name: instance.$0, version: '', summary: '' }, commands);
}

function aliasesOf(instance, name) {
  const rows = instance.getInternalMethods().getUsageInstance().getCommands();
  const row = rows.find(([usage]) => usage.split(' ').includes(name));
  return row?.[3] ?? [];
}

async function readOclif({ Config }, root) {
  const config = await Config.load({ root });
  const commands = config.commands
    // An alias is in the list, too.
    .filter(({ id, aliases, pluginName }) => pluginName === config.name && !(aliases ?? []).includes(id))
    .map((command) => ({
      words: command.id.split(':'),
      separator: config.topicSeparator ?? ':',
      aliases: (command.aliases ?? []).map((alias) => alias.split(':')),
      summary: command.summary ?? command.description ?? '',
      hidden: command.hidden === true,
      deprecated: Boolean(command.state === 'deprecated' || command.deprecationOptions),
      options: Object.values(command.flags)
        .filter(({ hidden, name }) => !hidden && name !== 'help')
        .map((flag) => ({
          level: -1,
          name: flag.name,
          on: `--${flag.name}`,
          off: flag.allowNo ? `--no-${flag.name}` : null,
          short: flag.char ?? null,
          type: flag.type === 'boolean' ? 'boolean' : 'string',
          bare: false,
          many: flag.multiple === true,
          choices: flag.options ?? null,
          default: plain(flag.default),
          required: flag.required === true,
          summary: flag.summary ?? flag.description ?? '',
        })),
      positionals: Object.values(command.args).map((each) => ({
        name: each.name,
        required: each.required === true,
        many: each.multiple === true,
        choices: each.options ?? null,
        type: 'string',
        summary: each.description ?? '',
      })),
    }));
  answer(
    'oclif',
    { name: config.bin, version: config.version, summary: config.pjson.description ?? '' },
    commands,
  );
}

if (mode === '--oclif') {
  const oclif = await own('@oclif/core');
  if (oclif === undefined) throw new Error('@oclif/core is not installed beside the program');
  await readOclif(oclif.loaded, folder);
}
const commander = await own('commander');
if (commander !== undefined)
  for (const name of ['parse', 'parseAsync'])
    commander.loaded.Command.prototype[name] = function () {
      readCommander(this);
    };
const yargs = await own('yargs');
if (yargs !== undefined) {
  const make = yargs.loaded.default;
  const prototype = Object.getPrototypeOf(make([]));
  for (const name of ['parse', 'parseAsync', 'parseSync'])
    prototype[name] = function () {
      readYargs(this, make);
    };
}
process.argv = [process.argv[0], file];
await import(pathToFileURL(file).href);
