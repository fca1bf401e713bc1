import { dirname, join, relative } from 'node:path';
import type * as z from 'zod';
import { configFile } from '../../../../protocol/config-file.ts';
import { deprecatedIn } from '../../../../protocol/deprecations.ts';
import { errorCodesFile } from '../../../../protocol/error-codes-file.ts';
import { type InputSpec, type ManifestFile, manifestFile } from '../../../../protocol/manifest.ts';
import {
  leastLevel,
  PERMISSION_LEVELS,
  settlePermissions,
} from '../../../../protocol/manifest-permissions.ts';
import { policyFile } from '../../../../protocol/policy-file.ts';
import { workflowFile } from '../../../../protocol/workflow-file.ts';
import { checkFile } from '../../../config/check-file.ts';
import { CONFIG_VERSION, otherVersion } from '../../../config/config-version.ts';
import type { Problem } from '../../../config/problem.ts';
import { expandVariables } from '../../../config/variables.ts';
import type { YamlFile } from '../../../config/yaml-file.ts';
import { lacksAccess } from '../../../registry/output-names.ts';
import { lacksModeline, schemaFolder } from '../modeline.ts';
import { type Fix, fixesOfIssue } from './fix.ts';

export type FileKind = 'config' | 'manifest' | 'error-codes' | 'policy' | 'workflow';

/** The initial version of a new manifest. */
const FIRST_VERSION = '0.1.0';

/** The possible fixes for a file, and all its problems. Modelines name schemas in `root`. */
export function fixesOf(
  kind: FileKind,
  yaml: YamlFile,
  text: string,
  { env, root }: { env: Readonly<Record<string, string | undefined>>; root: string },
): { fixes: Fix[]; problems: Problem[] } {
  const fixes: Fix[] = [];
  const check = <T>(schema: z.ZodType<T>, value: unknown = yaml.value) =>
    checkFile(schema, yaml, value, (issue, allowed) => {
      fixes.push(...fixesOfIssue(issue, { yaml, value, allowed }));
    });
  if (yaml.problems.length > 0) return { fixes, problems: yaml.problems };
  switch (kind) {
    case 'error-codes':
      return { fixes, problems: check(errorCodesFile).problems };
    case 'policy':
      return { fixes, problems: check(policyFile).problems };
    case 'workflow':
      return { fixes, problems: check(workflowFile).problems };
    case 'config': {
      const other = otherVersion(yaml);
      if (other !== undefined) return { fixes, problems: [other] };
      const { value, problems } = expandVariables(yaml, env);
      problems.push(...check(configFile, value).problems);
      fixes.push(...renewals('config', yaml));
      if (lacksVersion(yaml, fixes))
        fixes.push({ kind: 'add', rule: 'no-version', line: `version: ${CONFIG_VERSION}` });
      fixes.push(...modeline(kind, yaml.file, text, root));
      return { fixes, problems };
    }
    case 'manifest': {
      const { data, problems } = check(manifestFile);
      fixes.push(...renewals('manifest', yaml));
      if (data !== undefined) fixes.push(...narrowing(data), ...writableOutputs(data));
      if (lacksVersion(yaml, fixes))
        fixes.push({ kind: 'add', rule: 'no-version', line: `version: ${FIRST_VERSION}`, after: 'name' });
      fixes.push(...modeline(kind, yaml.file, text, root));
      return { fixes, problems };
    }
  }
}

/** A misspelt version that is renamed must not be added, too. */
function lacksVersion({ value }: YamlFile, fixes: readonly Fix[]): boolean {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'version')) return false;
  return !fixes.some((fix) => fix.kind === 'key' && fix.path.length === 0 && fix.to === 'version');
}

function renewals(file: 'config' | 'manifest', yaml: YamlFile): Fix[] {
  return deprecatedIn(file, yaml.value).flatMap(({ deprecation, value }): Fix[] => {
    const path = deprecation.path.split('.');
    const { to } = deprecation;
    if (typeof to !== 'string') return [{ kind: 'remove', rule: 'deprecated', path }];
    const [holder, key] = [path.slice(0, -1), path.at(-1)!];
    const written: Fix = {
      kind: 'value',
      rule: 'deprecated',
      path,
      text: JSON.stringify(deprecation.rewrite(value)),
    };
    if (key === to) return [written];
    const siblings = holder.reduce<unknown>(
      (map, each) => (map as Record<string, unknown>)[each],
      yaml.value,
    );
    // When both spellings are present, the author must choose.
    if (Object.hasOwn(siblings as object, to)) return [];
    return [written, { kind: 'key', rule: 'deprecated', path: holder, key, to }];
  });
}

/** A privileged tool that names nothing may need more than it names. */
function narrowing({ permissions, cwd }: Pick<ManifestFile, 'permissions' | 'cwd'>): Fix[] {
  if (permissions.level === undefined) return [];
  const { level, ...asked } = settlePermissions(permissions, { cwd });
  const least = leastLevel(asked);
  if (PERMISSION_LEVELS.indexOf(level) <= PERMISSION_LEVELS.indexOf(least)) return [];
  if (level === 'privileged' && least === 'minimal') return [];
  return [{ kind: 'value', rule: 'level-too-high', path: ['permissions', 'level'], text: least }];
}

function writableOutputs({ inputs }: { inputs?: InputSpec[] | undefined }): Fix[] {
  return (inputs ?? []).flatMap((input, index): Fix[] =>
    lacksAccess(input)
      ? [
          {
            kind: 'add-beside',
            rule: 'no-access',
            path: ['inputs', index],
            after: 'type',
            text: 'access: write',
          },
        ]
      : [],
  );
}

function modeline(kind: FileKind, file: string, text: string, root: string): Fix[] {
  if (!lacksModeline(file, text, root)) return [];
  const schema = relative(dirname(file), join(schemaFolder(root), schemaName(kind)));
  return [{ kind: 'first-line', rule: 'no-modeline', line: `# yaml-language-server: $schema=${schema}` }];
}

export function schemaName(kind: FileKind): string {
  return `${kind}.schema.json`;
}
