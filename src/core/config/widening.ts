import { realpathSync } from 'node:fs';
import type { Config } from '../../protocol/config-file.ts';
import type { Receiver } from '../../protocol/notify-config.ts';
import { ContentDigests } from '../../util/content-digest.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import { readRegular } from '../../util/regular-file.ts';
import { newSha256 } from '../../util/sha256.ts';
import { pathsNamedBy, startedBy, startedFolders } from '../../util/started-content.ts';
import { valueAt } from './layers.ts';
import { absoluteFolder } from './project-folders.ts';
import type { Setting } from './settings-cache.ts';

/** A setting of a project that gives tools more than the user's configuration and the defaults do. */
export interface Widening {
  /** The dotted key. */
  key: string;
  /** file:line:column of the setting. */
  where: string;
  /** What the project sets, and the value that applies without it. */
  asked: unknown;
  without: unknown;
  /** The SHA-256 of a value with variables of the caller; `asked` is then what the file has, because the value may be a secret. */
  expanded?: string;
  /** What it means, in one sentence. */
  means: string;
  /** Where its folders really are, for a setting that names folders. */
  leads_to?: string[];
  /** The files and folders of the project that a command would execute, with the SHA-256 of each: the project could change them later. */
  files?: { file: string; sha256: string }[];
}

/** The value that the project sets, the value below it, and the project's folder. */
interface Comparison {
  value: unknown;
  before: unknown;
  /** Whether the user's file sets the value below it; else it is the default. */
  isUsers: boolean;
  root: string;
}

interface Rule {
  key: RegExp;
  widens(comparison: Comparison): boolean;
  means: string;
}

/** Of the folders that a command names; each command of a project with such a setting reads them. */
const BOUND = { bytes: 20_000_000, files: 2000 };
const NAMES_A_COMMAND = /^(task\.executor|security\.container)\.command$/;
const NAMES_FOLDERS = /^(security\.grant_roots|project\.(tools_dirs|runs_dir|registry_dir)|task\.writes)$/;

/** What a manifest of the same project could request by itself is only here where the user's own file limits it. */
const RULES: readonly Rule[] = [
  {
    key: /^security\.isolation$/,
    widens: weaker(['required', 'preferred', 'off']),
    means: 'tools run in a weaker sandbox, or in none',
  },
  {
    key: /^security\.allow_network_egress$/,
    widens: ({ value }) => value === true,
    means: 'manifests may request every host of a domain',
  },
  {
    key: /^security\.allow_private_egress$/,
    widens: adds,
    means: 'tools may reach services of this machine or of its private network',
  },
  {
    key: /^security\.webhook_hosts$/,
    widens: adds,
    means: 'agents may have events of runs sent to these hosts',
  },
  {
    key: /^security\.egress_hosts\./,
    widens: differs,
    means: 'tools reach another address under this name',
  },
  {
    key: /^security\.egress_authorities$/,
    widens: adds,
    means: 'ACOR trusts these authorities when it sends secrets to hosts',
  },
  {
    key: /^security\.grant_roots$/,
    widens: leavesProject,
    means: 'path arguments may name files outside the project',
  },
  {
    key: /^security\.container\./,
    widens: differs,
    means: 'this command starts a container with your rights, and it decides what tools can reach',
  },
  {
    key: /^security\.require_plan$/,
    widens: weaker(['writes', 'destroys', 'never']),
    means: 'tools run without the plan that you require',
  },
  {
    key: /^security\.writes$/,
    widens: weaker(['review', 'snapshot', 'in_place']),
    means: 'tools write in place what you want to review or undo',
  },
  {
    key: /^security\.on_denied$/,
    widens: weaker(['fail', 'ask']),
    means: 'tools may ask for hosts, paths and programs that their manifests do not name',
  },
  {
    key: /^security\.direct_calls$/,
    widens: weaker(['deny', 'allow']),
    means: 'agents may start tools without ACOR',
  },
  {
    key: /^(security\.resource_limits|budget\.(resources|max_\w+))(\.|$)|^task\.max_cost_usd$/,
    widens: raises,
    means: 'tools may use more than your limit',
  },
  {
    key: /^environment\.cancel_grace_s$/,
    widens: raises,
    means: 'a tool may continue for longer after it has been stopped',
  },
  {
    key: /^environment\.waiting_stops_deadline$/,
    widens: ({ value, before }) => value === true && before !== true,
    means: 'a tool that waits for an answer may run for longer than its time limit',
  },
  {
    key: /^storage\.keep$/,
    widens: lowers,
    means: 'ACOR removes runs that you keep',
  },
  {
    key: /^project\.(tools_dirs|runs_dir|registry_dir)$/,
    widens: leavesProject,
    means: 'ACOR reads tools, or stores runs, outside the project',
  },
  {
    key: /^task\.executor\./,
    widens: differs,
    means: 'a task starts this command, which may write to the project',
  },
  {
    key: /^task\.(executor|model)$/,
    widens: (comparison) => comparison.isUsers && differs(comparison),
    means: 'a task starts another agent, or another model, than you have chosen',
  },
  {
    key: /^task\.max_iterations$/,
    widens: raises,
    means: 'a task may use, and cost, more than your limit',
  },
  {
    key: /^task\.price\.(input|output|cache_read|cache_write)$/,
    widens: lowers,
    means: 'ACOR counts less than your price, and ends a task later',
  },
  {
    key: /^prices\./,
    widens: differs,
    means: 'ACOR counts tokens at this price, and may end a run later',
  },
  {
    key: /^task\.(commands|hosts|secrets|writes)$/,
    widens: adds,
    means: 'a task gives this to an agent that may use your login',
  },
  {
    key: /^answers$/,
    // The first matching rule applies, so that an order, or a missing rule, changes an answer.
    widens: differs,
    means: 'these rules replace yours: ACOR answers such questions, and does not ask the user',
  },
  {
    key: /^notify$/,
    widens: differs,
    means: 'ACOR starts these programs, calls these addresses and sends this mail, with your rights',
  },
  {
    key: /^telemetry\.(endpoint|authorization|file)$/,
    widens: differs,
    means: 'ACOR sends what runs did, with the names of tools and the messages of failures, to this place',
  },
  {
    key: /^host$/,
    widens: differs,
    means: 'ACOR keeps processes of yours that wait for calls, or keeps none where you want them',
  },
];

const EXPANDS = 'it takes values of your environment into a text that agents and tools may read';

/** The settings that widen what `base`, the user's configuration, allows. `users` has the keys that the user's file sets. */
export function wideningsOf(
  settings: readonly Setting[],
  { base, users, root }: { base: Config; users: ReadonlySet<string>; root: string },
): Widening[] {
  return settings.flatMap(({ path, value, where, written }) => {
    const key = path.join('.');
    const before = valueAt(base, path);
    const isUsers = [...users].some((each) => each === key || each.startsWith(`${key}.`));
    const comparison = { value, before, isUsers, root };
    const rule = RULES.find((each) => each.key.test(key) && each.widens(comparison));
    if (rule === undefined && written === undefined) return [];
    const words = commandWords(key, value);
    const leadsTo = NAMES_FOLDERS.test(key)
      ? listOf(value).map((each) => realFolderOf(String(each), root))
      : linksOutNamedBy(words, root);
    const places = leadsTo.length > 0 ? { leads_to: leadsTo } : {};
    const files = filesNamedBy(words, root);
    const contents = files.length > 0 ? { files } : {};
    const means = [rule?.means ?? [], written === undefined ? [] : EXPANDS].flat().join('; ');
    const expanded = written === undefined ? {} : { expanded: sha256Of(value) };
    const asked = written ?? value;
    return [{ key, where, asked, ...expanded, without: before ?? null, means, ...places, ...contents }];
  });
}

function sha256Of(value: unknown): string {
  return newSha256().update(JSON.stringify(value)).digest('hex');
}

/** The words of the commands that a setting names. */
function commandWords(key: string, value: unknown): string[] {
  if (NAMES_A_COMMAND.test(key)) return listOf(value).map(String);
  if (key !== 'notify') return [];
  return (listOf(value) as Receiver[]).flatMap(({ program = [] }) => program);
}

/** What a command would execute that is in the project: files, and folders as one each. */
function filesNamedBy(words: readonly string[], root: string): { file: string; sha256: string }[] {
  if (words.length === 0) return [];
  const started = startedBy(words, { folders: [root], path: '' });
  const files = started.files
    .filter((file) => isInProject(file, root))
    .map((file) => ({ file, sha256: newSha256().update(readRegular(file)).digest('hex') }));
  const digests = new ContentDigests(BOUND, (path) => path.endsWith('/.git'));
  const inside = started.folders.filter((folder) => isInProject(folder, root));
  const folders = [...startedFolders(inside, { digests, roots: [realpathSync(root)] })];
  return [...files, ...folders.map(({ folder, found }) => ({ file: `${folder}/`, sha256: found.sha256 }))];
}

/** Where the words of a command lead that name links of the project out of it: the project could change the link later. */
function linksOutNamedBy(words: readonly string[], root: string): string[] {
  return pathsNamedBy(words, [root]).flatMap((file) =>
    isInside(file, root) && !isInProject(file, root) ? [realFolderOf(file, root)] : [],
  );
}

/** Whether a rule decides on the key. */
export function hasRule(key: string): boolean {
  return RULES.some((rule) => rule.key.test(key));
}

/** From the strictest value to the weakest. */
function weaker(order: readonly string[]): Rule['widens'] {
  return ({ value, before }) => order.indexOf(String(value)) > order.indexOf(String(before));
}

function differs({ value, before }: Comparison): boolean {
  return JSON.stringify(value) !== JSON.stringify(before);
}

function raises({ value, before }: Comparison): boolean {
  return before !== undefined && Number(value) > Number(before);
}

function lowers({ value, before }: Comparison): boolean {
  return before !== undefined && Number(value) < Number(before);
}

function adds({ value, before }: Comparison): boolean {
  const known = new Set(listOf(before).map((each) => JSON.stringify(each)));
  return listOf(value).some((each) => !known.has(JSON.stringify(each)));
}

function leavesProject({ value, before, root }: Comparison): boolean {
  const known = listOf(before);
  return listOf(value).some((each) => !known.includes(each) && !isInProject(String(each), root));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

/** Where a folder, which may not exist yet, really is. A path that cannot be followed stays as it is. */
export function realFolderOf(folder: string, root: string): string {
  const path = absoluteFolder(folder, root);
  try {
    return realPathOf(path, root).path;
  } catch {
    return path;
  }
}

/** Whether a folder, which may not exist yet, is in the project after links are followed, as granting follows them. */
export function isInProject(folder: string, root: string): boolean {
  try {
    return isInside(realPathOf(absoluteFolder(folder, root), root).path, realPathOf(root, root).path);
  } catch {
    return false;
  }
}
