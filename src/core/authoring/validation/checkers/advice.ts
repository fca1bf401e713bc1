import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { deprecatedIn, deprecationFix } from '../../../../protocol/deprecations.ts';
import { leastLevel, PERMISSION_LEVELS } from '../../../../protocol/manifest-permissions.ts';
import { adoptFile, FIX_SAFELY } from '../../../../protocol/next-steps.ts';
import type { KeyPath } from '../../../config/yaml-file.ts';
import { lacksAccess } from '../../../registry/output-names.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import { uncheckedIn } from '../../../registry/schema-check.ts';
import { whyNeverWarm } from '../../../registry/warm-start.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, placesIn } from '../finding.ts';
import { lacksModeline, noModeline } from '../modeline.ts';

/** What a manifest should add, and permissions that it requests without need. */
export const advice: Checker = {
  name: 'advice',
  async check({ tools, config, cwd }) {
    return (await Promise.all(tools.map((tool) => adviceOn(tool, config.root, cwd)))).flat();
  },
};

/** The recommended keys of a manifest: the rule, and what to add. */
const WANTED: readonly { path: string[]; rule: string; message: string; fix: string }[] = [
  {
    path: ['version'],
    rule: 'no-version',
    message: 'the tool has no version',
    fix: 'Add it: version: 0.1.0',
  },
  {
    path: ['description'],
    rule: 'no-description',
    message: 'the tool has no description, which agents need to choose it',
    fix: 'Add it: description: What it does, in one sentence.',
  },
  {
    path: ['timeout_s'],
    rule: 'no-timeout',
    message: 'the tool declares no time limit',
    fix: 'Add it: timeout_s: 300',
  },
  {
    path: ['exit_codes'],
    rule: 'no-exit-codes',
    message: 'the exit codes of the tool are not listed',
    fix: 'Add them: exit_codes: { ok: 0, retryable_error: 20, fatal_error: 30 }',
  },
  {
    path: ['effects'],
    rule: 'no-effects',
    message: 'the tool does not declare its effects',
    fix: 'Add it: effects: reads, writes or destroys',
  },
  {
    path: ['health', 'selftest'],
    rule: 'no-selftest',
    message: 'the tool has no self-test',
    fix: 'Add it: health: { selftest: ["--selftest"] }',
  },
];

/** A program that was not written for ACOR knows no such flag. */
const FOREIGN_SELFTEST =
  'Add arguments with which it ends with exit code 0 and changes nothing: health: { selftest: ["--version"] }';

async function adviceOn(tool: ToolEntry, root: string, cwd: string): Promise<Finding[]> {
  const { manifest, manifestPath, hasHeader, adapter, entry, dir, name, problems } = tool;
  if (manifestPath === null) {
    const file = entry ?? dir;
    const message = `the tool '${name}' has no manifest: its arguments are not checked`;
    const fix = 'Let ACOR draft a tool.yaml from its help.';
    const next = entry === null ? [] : [adoptFile(relative(cwd, entry))];
    return problems.length > 0 || hasHeader
      ? []
      : [findingOf({ file, line: 0, column: 0, rule: 'no-manifest', message, fix, next })];
  }
  const yaml = await placesIn(manifestPath);
  if (yaml.problems.length > 0 || typeof yaml.value !== 'object' || yaml.value === null) return [];
  const found = (path: KeyPath, rule: string, message: string, fix: string) =>
    findingOf({ file: manifestPath, ...yaml.placeOf(path), rule, message, fix });

  const findings = WANTED.filter(({ path }) => valueAt(yaml.value, path) === undefined).map(
    ({ rule, message, fix }) =>
      found([], rule, message, rule === 'no-selftest' && adapter !== 'jsonl' ? FOREIGN_SELFTEST : fix),
  );
  for (const { deprecation, value } of deprecatedIn('manifest', yaml.value)) {
    const message = `'${deprecation.path}: ${JSON.stringify(value)}' is deprecated`;
    findings.push(
      found(deprecation.path.split('.'), 'deprecated', message, deprecationFix(deprecation, value)),
    );
  }
  if (lacksModeline(manifestPath, readFileSync(manifestPath, 'utf8'), root))
    findings.push(noModeline(manifestPath));
  // The rest of an invalid manifest is unknown.
  if (problems.length > 0) return findings;

  for (const [index, input] of (manifest.inputs ?? []).entries()) {
    if (lacksAccess(input)) {
      findings.push(
        findingOf({
          file: manifestPath,
          ...yaml.placeOf(['inputs', index]),
          rule: 'no-access',
          message: `the input '${input.name}' has no access: a path that exists is read-only for the tool`,
          fix: 'Add access: write if the tool writes there, else access: read.',
          next: [FIX_SAFELY],
        }),
      );
    }
    if (input.description !== undefined) continue;
    findings.push(
      found(
        ['inputs', index],
        'no-description',
        `the input '${input.name}' has no description`,
        'Add it: description: What it is for.',
      ),
    );
  }
  for (const what of manifest.input_schema === undefined ? [] : await uncheckedIn(manifest.input_schema)) {
    findings.push(
      found(
        ['input_schema'],
        'unchecked-input',
        `${what} in input_schema is not checked: a call that breaks it starts`,
        'Correct its name, or check it in the tool. A keyword of your own begins with x-.',
      ),
    );
  }
  const neverWarm = manifest.warm ? whyNeverWarm(manifest, tool) : undefined;
  if (neverWarm !== undefined) {
    const message = `the tool gets no warm start: it ${neverWarm}`;
    findings.push(found(['warm'], 'no-warm-start', message, 'Remove the line: warm: true'));
  }
  const { level, ...asked } = manifest.permissions;
  const wildcard = asked.network.egress_allow.find((host) => host.includes('*'));
  if (wildcard !== undefined) {
    findings.push(
      found(
        ['permissions', 'network', 'egress_allow'],
        'wildcard-egress',
        `the tool requests every host of '${wildcard}'`,
        'Name the hosts that it needs, as host:port.',
      ),
    );
  }
  if (asked.commands.includes('*')) {
    findings.push(
      found(
        ['permissions', 'commands'],
        'wildcard-commands',
        'the tool requests every command',
        'Name the commands that it needs.',
      ),
    );
  }
  const least = leastLevel(asked);
  if (PERMISSION_LEVELS.indexOf(level) > PERMISSION_LEVELS.indexOf(least)) {
    findings.push(
      found(
        ['permissions', 'level'],
        'level-too-high',
        `the level ${level} is higher than the requested permissions need`,
        `Set level: ${least}, or name what else the tool needs.`,
      ),
    );
  }
  return findings;
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (holder, key) => (holder as Record<string | number, unknown> | null | undefined)?.[key],
    value,
  );
}
