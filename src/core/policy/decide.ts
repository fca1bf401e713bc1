import type { PermissionLevel } from '../../protocol/manifest-permissions.ts';
import { type BuiltInRules, builtInViolations } from './built-in.ts';
import type { Asked, Decision, Violation } from './decision.ts';
import { yamlText } from './explain-denial.ts';
import { ceilingViolations } from './limits.ts';
import { type PlacedRules, type PolicyLayer, rulesFor } from './policy-layer.ts';
import { coversHost, isWildcard, isWithin, rootOf } from './reach.ts';

/** Weakest first. The schema contains them too, but is not loaded for this. */
const LEVELS: readonly PermissionLevel[] = ['minimal', 'standard', 'privileged'];

/**
 * Checks a run's requests against every layer of the policy (contract §9). Each layer is checked separately and all
 * must allow the run, so no layer can extend another. The list of violations is complete.
 */
export function decide(
  asked: Asked,
  layers: readonly PolicyLayer[],
  { allowsWildcardHosts, by }: Omit<BuiltInRules, 'named'>,
): Decision {
  const rules = layers.flatMap((layer) => rulesFor(asked.tool, layer));
  const named = {
    hosts: rules.flatMap(({ rules: { network } }) => (network?.egress_allow ?? []).filter(isWildcard)),
    commands: rules.flatMap(({ rules: { commands } }) => commands ?? []),
  };
  const violations = [
    ...builtInViolations(asked.manifest, { allowsWildcardHosts, by, named }),
    ...rules.flatMap((each) => violationsOf(asked, each)),
  ];
  return { allowed: violations.length === 0, violations };
}

function violationsOf(asked: Asked, placed: PlacedRules): Violation[] {
  return [
    ...levelViolations(asked, placed),
    ...pathViolations(asked, placed),
    ...listViolations(asked, placed),
    ...ceilingViolations(asked, placed),
    ...pinViolations(asked, placed),
    ...isolationViolations(asked, placed),
  ];
}

function levelViolations({ manifest }: Asked, { rules, at }: PlacedRules): Violation[] {
  const { level } = manifest.permissions;
  const highest = rules.max_level;
  if (highest !== undefined && LEVELS.indexOf(level) > LEVELS.indexOf(highest)) {
    return [
      {
        path: 'permissions.level',
        asked: level,
        allowed: highest,
        by: at('max_level'),
        rule: `the level ${level} is above ${highest}, the highest that is allowed`,
        fix: `Reduce the permissions to what ${highest} covers, or raise max_level at ${at('max_level')}.`,
      },
    ];
  }
  // A privileged tool can access everything, whatever its manifest lists, so only a rule that allows everything allows
  // it.
  if (level !== 'privileged') return [];
  const lists: [key: string, allowed: readonly string[] | undefined, all: string][] = [
    ['filesystem.read', rules.filesystem?.read, '/'],
    ['filesystem.write', rules.filesystem?.write, '/'],
    ['network.egress_allow', rules.network?.egress_allow, '*'],
    ['commands', rules.commands, '*'],
  ];
  return lists.flatMap(([key, allowed, all]): Violation[] =>
    allowed === undefined || allowed.some((each) => each === all || each === `${all}**`)
      ? []
      : [
          {
            path: 'permissions.level',
            asked: level,
            allowed,
            by: at(key),
            rule: `a privileged tool is not held to the ${key} that are allowed`,
            fix: `Set permissions.level: standard and list what the tool needs, or add ${yamlText(all)} to ${key} at ${at(key)}.`,
          },
        ],
  );
}

function pathViolations(asked: Asked, { rules, at }: PlacedRules): Violation[] {
  const { manifest, grants, places } = asked;
  return (['read', 'write'] as const).flatMap((access) => {
    const allowed = rules.filesystem?.[access];
    if (allowed === undefined) return [];
    // A writable path is also readable.
    const also = access === 'read' ? (rules.filesystem?.write ?? []) : [];
    const roots = [...allowed, ...also].map((root) => rootOf(root, places));
    const wanted = [
      ...manifest.permissions.filesystem[access].map((path, index) => ({
        path: `permissions.filesystem.${access}[${index}]`,
        asked: path,
        root: rootOf(path, places),
      })),
      ...grants
        .filter((grant) => grant.access === access)
        .map(({ path, input }) => ({ path: `inputs.${input}`, asked: path, root: path })),
    ];
    const key = `filesystem.${access}`;
    return wanted
      .filter(({ root }) => ![places.workspace, ...roots].some((each) => isWithin(root, each, places)))
      .map(({ path, asked: text, root }) => ({
        path,
        asked: text,
        allowed,
        by: at(key),
        rule: `'${text}' is outside the folders that may be ${access === 'read' ? 'read' : 'written'}`,
        fix: `Use a path under ${allowed.join(', ') || 'the workspace'}, or add ${yamlText(root)} to the list ${key} at ${at(key)}.`,
      }));
  });
}

function listViolations({ manifest }: Asked, { rules, at }: PlacedRules): Violation[] {
  const { permissions, secrets } = manifest;
  const isNamed = (allowed: readonly string[], name: string) =>
    allowed.includes(name) || allowed.includes('*');
  const isHost = (allowed: readonly string[], host: string) =>
    allowed.some((pattern) => coversHost(pattern, host));
  return [
    ...outside('network.egress_allow', 'permissions.', permissions.network.egress_allow, isHost),
    ...outside('commands', 'permissions.', permissions.commands, isNamed),
    ...outside('secrets', '', secrets, isNamed),
  ];

  function outside(
    key: string,
    prefix: string,
    wanted: readonly string[],
    covers: (allowed: readonly string[], each: string) => boolean,
  ): Violation[] {
    const allowed =
      key === 'network.egress_allow' ? rules.network?.egress_allow : rules[key as 'commands' | 'secrets'];
    if (allowed === undefined) return [];
    return wanted.flatMap((each, index) =>
      covers(allowed, each)
        ? []
        : {
            path: `${prefix}${key}[${index}]`,
            asked: each,
            allowed,
            by: at(key),
            rule: `'${each}' is not among the ${key} that are allowed`,
            fix: `Remove it from the manifest, or add ${yamlText(each)} to the list ${key} at ${at(key)}.`,
          },
    );
  }
}

function pinViolations({ manifestSha256, tool }: Asked, { rules, at }: PlacedRules): Violation[] {
  const pin = rules.manifest_sha256;
  if (pin === undefined || pin === manifestSha256) return [];
  return [
    {
      path: 'tool.yaml',
      asked: manifestSha256,
      allowed: pin,
      by: at('manifest_sha256'),
      rule: `the manifest of '${tool}' is not the one that is pinned`,
      fix: `Restore the pinned manifest, or change the pin at ${at('manifest_sha256')}.`,
    },
  ];
}

function isolationViolations({ tier }: Asked, { rules, at }: PlacedRules): Violation[] {
  const weakest = rules.require_isolation;
  if (weakest === undefined || tier === null || tier <= weakest) return [];
  return [
    {
      path: 'security.isolation',
      asked: tier,
      allowed: weakest,
      by: at('require_isolation'),
      rule: `the sandbox here is of tier ${tier}, and tier ${weakest} or stronger is required`,
      fix: 'Make a stronger sandbox available on this machine.',
    },
  ];
}
