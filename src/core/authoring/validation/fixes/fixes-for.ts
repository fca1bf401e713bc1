import { dirname, join, relative } from 'node:path';
import type * as z from 'zod';
import { configFile } from '../../../../protocol/config-file.ts';
import { deprecatedIn } from '../../../../protocol/deprecations.ts';
import { errorCodesFile } from '../../../../protocol/error-codes-file.ts';
import { manifestFile } from '../../../../protocol/manifest.ts';
import {
  leastLevel,
  PERMISSION_LEVELS,
  settlePermissions,
} from '../../../../protocol/manifest-permissions.ts';
import { policyFile } from '../../../../protocol/policy-file.ts';
import { workflowFile } from '../../../../protocol/workflow-file.ts';
import { checkFile } from '../../../config/check-file.ts';
import { CONFIG_VERSION, otherVersion } from '../../../config/config-version.ts';
import { expandVariables } from '../../../config/expand.ts';
import type { Problem } from '../../../config/problem.ts';
import type { YamlFile } from '../../../config/yaml-file.ts';
import { lacksModeline, schemaFolder } from '../modeline.ts';
import { type Fix, mendsOfIssue } from './fix.ts';

export type FileKind = 'config' | 'manifest' | 'error-codes' | 'policy' | 'workflow';

/** What a new manifest begins with. */
const FIRST_VERSION = '0.1.0';

/** What can be mended in a file as it stands, and what is wrong with it in all. Modelines name schemas in `root`. */
export function mendsOf(
  kind: FileKind,
  yaml: YamlFile,
  text: string,
  { env, root }: { env: Readonly<Record<string, string | undefined>>; root: string },
): { mends: Fix[]; problems: Problem[] } {
  const mends: Fix[] = [];
  const check = <T>(schema: z.ZodType<T>, value: unknown = yaml.value) =>
    checkFile(schema, yaml, value, (issue, known) => {
      mends.push(...mendsOfIssue(issue, { yaml, value, known }));
    });
  if (yaml.problems.length > 0) return { mends, problems: yaml.problems };
  switch (kind) {
    case 'error-codes':
      return { mends, problems: check(errorCodesFile).problems };
    case 'policy':
      return { mends, problems: check(policyFile).problems };
    case 'workflow':
      return { mends, problems: check(workflowFile).problems };
    case 'config': {
      const other = otherVersion(yaml);
      if (other !== undefined) return { mends, problems: [other] };
      const { value, problems } = expandVariables(yaml, env);
      problems.push(...check(configFile, value).problems);
      mends.push(...renewals('config', yaml));
      if (lacks(yaml, 'version'))
        mends.push({ kind: 'add', rule: 'no-version', line: `version: ${CONFIG_VERSION}` });
      mends.push(...modeline(kind, yaml.file, text, root));
      return { mends, problems };
    }
    case 'manifest': {
      const { data, problems } = check(manifestFile);
      mends.push(...renewals('manifest', yaml));
      if (data !== undefined) mends.push(...narrowing(data));
      if (lacks(yaml, 'version'))
        mends.push({ kind: 'add', rule: 'no-version', line: `version: ${FIRST_VERSION}`, after: 'name' });
      mends.push(...modeline(kind, yaml.file, text, root));
      return { mends, problems };
    }
  }
}

function lacks(yaml: YamlFile, key: string): boolean {
  return typeof yaml.value === 'object' && yaml.value !== null && !Object.hasOwn(yaml.value, key);
}

function renewals(file: 'config' | 'manifest', yaml: YamlFile): Fix[] {
  return deprecatedIn(file, yaml.value).flatMap(({ deprecation, value }): Fix[] => {
    const path = deprecation.path.split('.');
    const [holder, key] = [path.slice(0, -1), path.at(-1)!];
    const written: Fix = {
      kind: 'value',
      rule: 'deprecated',
      path,
      text: JSON.stringify(deprecation.rewrite(value)),
    };
    if (key === deprecation.to) return [written];
    const siblings = holder.reduce<unknown>(
      (map, each) => (map as Record<string, unknown>)[each],
      yaml.value,
    );
    // Which of the two is meant is for a person to say.
    if (Object.hasOwn(siblings as object, deprecation.to)) return [];
    return [written, { kind: 'key', rule: 'deprecated', path: holder, key, to: deprecation.to }];
  });
}

/** A privileged tool that names nothing may need what it does not name. */
function narrowing({ permissions }: { permissions: Parameters<typeof settlePermissions>[0] }): Fix[] {
  if (permissions.level === undefined) return [];
  const { level, ...asked } = settlePermissions(permissions);
  const least = leastLevel(asked);
  if (PERMISSION_LEVELS.indexOf(level) <= PERMISSION_LEVELS.indexOf(least)) return [];
  if (level === 'privileged' && least === 'minimal') return [];
  return [{ kind: 'value', rule: 'level-too-high', path: ['permissions', 'level'], text: least }];
}

function modeline(kind: FileKind, file: string, text: string, root: string): Fix[] {
  if (!lacksModeline(file, text, root)) return [];
  const schema = relative(dirname(file), join(schemaFolder(root), schemaName(kind)));
  return [{ kind: 'first-line', rule: 'no-modeline', line: `# yaml-language-server: $schema=${schema}` }];
}

export function schemaName(kind: FileKind): string {
  return `${kind}.schema.json`;
}
