import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../protocol/config-file.ts';
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
  /** What it means, in one sentence. */
  means: string;
}

/** The value that the project sets, the value below it, and the project's folder. */
interface Comparison {
  value: unknown;
  before: unknown;
  root: string;
}

interface Rule {
  key: RegExp;
  widens(comparison: Comparison): boolean;
  means: string;
}

/** What a manifest of the same project could request by itself is not in this table. */
const RULES: readonly Rule[] = [
  {
    key: /^security\.isolation$/,
    widens: weaker(['required', 'preferred', 'off']),
    means: 'tools run in a weaker sandbox, or in none',
  },
  {
    key: /^security\.(workspace_isolation|drop_privileges)$/,
    widens: ({ value }) => value === false,
    means: 'tools run with less separation',
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
    key: /^security\.egress_hosts\./,
    widens: differs,
    means: 'tools reach another address under this name',
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
    key: /^security\.direct_calls$/,
    widens: weaker(['deny', 'allow']),
    means: 'agents may start tools without ACOR',
  },
  {
    key: /^(security\.resource_limits|budget)\.|^task\.max_cost_usd$/,
    widens: ({ value, before }) => before !== undefined && Number(value) > Number(before),
    means: 'tools may use more than your limit',
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
    key: /^task\.(commands|hosts|secrets|writes)$/,
    widens: adds,
    means: 'a task gives this to an agent that may use your login',
  },
  {
    key: /^answers$/,
    widens: adds,
    means: 'ACOR answers these questions, and does not ask the user',
  },
];

/** The settings that widen what `base`, the user's configuration, allows. */
export function wideningsOf(settings: readonly Setting[], base: Config, root: string): Widening[] {
  return settings.flatMap(({ path, value, where }) => {
    const key = path.join('.');
    const before = valueAt(base, path);
    const rule = RULES.find((each) => each.key.test(key) && each.widens({ value, before, root }));
    if (rule === undefined) return [];
    return [{ key, where, asked: value, without: before ?? null, means: rule.means }];
  });
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], tree);
}

/** From the strictest value to the weakest. */
function weaker(order: readonly string[]): Rule['widens'] {
  return ({ value, before }) => order.indexOf(String(value)) > order.indexOf(String(before));
}

function differs({ value, before }: Comparison): boolean {
  return JSON.stringify(value) !== JSON.stringify(before);
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

/** Whether a folder that may not exist yet is in the project after links are followed. */
function isInProject(folder: string, root: string): boolean {
  const home = folder === '~' || folder.startsWith('~/');
  let at = home ? join(homedir(), folder.slice(1)) : resolve(root, folder);
  for (;;) {
    try {
      const [real, top] = [realpathSync(at), realpathSync(root)];
      return real === top || real.startsWith(`${top}/`);
    } catch {
      if (at === dirname(at)) return false;
      at = dirname(at);
    }
  }
}
