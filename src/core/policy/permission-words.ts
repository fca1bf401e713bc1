import type { Manifest } from '../../protocol/manifest.ts';
import type { HttpRule } from '../../protocol/manifest-permissions.ts';

/** The time and output limits of a tool whose manifest sets none. */
export interface DefaultLimits {
  timeout_s: number;
  heartbeat_grace_s: number;
  max_output_size: number;
}

/** Describes a tool's permissions in plain sentences, for a person who decides about its approval. */
export function permissionWords(
  manifest: Manifest,
  runtime: string,
  defaults: DefaultLimits,
  utilities: readonly string[],
): string[] {
  const { permissions, secrets, env } = manifest;
  const everything = permissions.level === 'privileged';
  const { read, write } = permissions.filesystem;
  const named = [...env.require, ...env.allow];
  const injections = manifest.secret_injections ?? [];
  const given = secrets.filter((each) => !injections.some(({ name }) => name === each));
  return [
    LEVELS[permissions.level],
    everything
      ? 'It may read every file that you can read.'
      : `It may read its own folder, its workspace and its path arguments${andThen(read)}.`,
    everything
      ? 'It may change and delete every file that you can change.'
      : `It may write to its workspace and to its output arguments${andThen(write)}.`,
    everything
      ? 'It may connect to every host.'
      : permissions.network.egress_allow.length === 0
        ? 'It may not use the network.'
        : `It may connect to: ${list(permissions.network.egress_allow)}.`,
    ...(permissions.network.http_rules ?? []).map(ruleWords),
    everything
      ? 'It may start every program.'
      : permissions.commands.length === 0
        ? `It may start no other program than ${runtime}${andUtilities(utilities)}.`
        : `It may start, beside ${runtime}${andUtilities(utilities)}: ${list(permissions.commands)}.`,
    ...(permissions.commands.includes('acor')
      ? ['It may run every tool of the project that needs no approval, with any path in the project.']
      : []),
    given.length === 0 ? 'It gets no secrets.' : `It gets these secrets: ${list(given)}.`,
    ...inEnvironment(manifest),
    ...injections.map(
      ({ name, hosts, header }) =>
        `It never gets the value of ${name}: ACOR reads its requests to ${list(hosts)} and puts the value into the header ${header}.`,
    ),
    named.length === 0
      ? 'Of your environment it sees nothing but the basics, such as PATH and HOME.'
      : `Of your environment it sees the basics, such as PATH and HOME, and: ${list(named)}.`,
    limitWords(manifest, defaults),
    ...(manifest.effects === undefined ? [] : [EFFECTS[manifest.effects]]),
  ];
}

function ruleWords({ host, methods, paths, max_upload }: HttpRule): string {
  const limits = [
    methods === undefined ? 'every method' : list(methods),
    paths === undefined ? 'every path' : list(paths),
    ...(max_upload === undefined ? [] : [`at most ${max_upload} bytes sent`]),
  ];
  return `Its requests to ${host} are limited, and ACOR reads them: ${limits.join('; ')}.`;
}

/** All of them are in the documentation of the sandbox. */
const NAMED_UTILITIES = ['cat', 'cp', 'find', 'rm', 'sed', 'xargs'];

function andUtilities(utilities: readonly string[]): string {
  const named = NAMED_UTILITIES.filter((each) => utilities.includes(each));
  if (utilities.length === 0) return '';
  return ` and ${utilities.length} base utilities, such as ${(named.length > 0 ? named : utilities.slice(0, 3)).join(', ')}`;
}

function inEnvironment({ secret_variables, secret_injections }: Manifest): string[] {
  const isGiven = (name: string) => !secret_injections?.some((each) => each.name === name);
  const names = (secret_variables ?? [])
    .filter(({ name, as }) => as === 'env' && isGiven(name))
    .map(({ variable }) => variable);
  if (names.length === 0) return [];
  return [
    `It gets some of them as variables, which protects less than files, because every program that it starts gets them, too: ${list(names)}.`,
  ];
}

const LEVELS = {
  minimal: 'It is of the level minimal: the least that a tool can have.',
  standard: 'It is of the level standard: what is named here, and nothing beyond it.',
  privileged: 'Its level is privileged: it may do everything that you may do.',
} as const;

const EFFECTS = {
  reads: 'It says of itself that it only reads.',
  writes: 'It says of itself that it changes things.',
  destroys: 'It says of itself that it destroys things.',
} as const;

function limitWords(manifest: Manifest, defaults: DefaultLimits): string {
  const { cpu_seconds, memory_mb, processes, file_mb, open_files } = manifest.resources;
  const held = [
    cpu_seconds === undefined ? '' : `${cpu_seconds} s of processor time`,
    memory_mb === undefined ? '' : `${memory_mb} MB of memory`,
    processes === undefined ? '' : `${processes} processes`,
    file_mb === undefined ? '' : `files of ${file_mb} MB`,
    open_files === undefined ? '' : `${open_files} open files`,
  ].filter((each) => each !== '');
  const resources = held.length === 0 ? '' : ` It asks to be held to ${list(held)}.`;
  const bytes = manifest.max_output_size ?? defaults.max_output_size;
  return (
    `It is stopped after ${manifest.timeout_s ?? defaults.timeout_s} s, after ` +
    `${manifest.heartbeat_grace_s ?? defaults.heartbeat_grace_s} s of silence, and beyond ${bytes} bytes of output.${resources}`
  );
}

function andThen(paths: readonly string[]): string {
  return paths.length === 0 ? '' : `, and: ${list(paths)}`;
}

function list(words: readonly string[]): string {
  return words.join(', ');
}
