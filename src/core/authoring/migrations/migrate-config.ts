import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { configFile } from '../../../protocol/config-file.ts';
import { SEE_VERSIONS } from '../../../protocol/next-steps.ts';
import { unifiedDiff } from '../../../util/unified-diff.ts';
import { ACOR_VERSION } from '../../../util/version.ts';
import { checkFile } from '../../config/check-file.ts';
import { CONFIG_VERSION, versionOf } from '../../config/config-version.ts';
import { textLike } from '../../config/edit-yaml.ts';
import { refuse } from '../../config/problem.ts';
import { replaceFile } from '../../config/replace-file.ts';
import { refuseLeadingOut } from '../../config/stay-inside.ts';
import { expandVariables } from '../../config/variables.ts';
import { type KeyPath, parseYaml, readYamlFile } from '../../config/yaml-file.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

/** A migrated configuration file. */
export interface MigratedConfig {
  from: number;
  to: number;
  /** The description of each step; empty when the file is current. */
  steps: string[];
  /** Unified; empty when nothing changes. */
  diff: string;
  /** Path of the backup; null when nothing was written. */
  backup: string | null;
}

/**
 * Migrates a configuration file to this version of ACOR and keeps the old file beside it. Throws E_INCOMPATIBLE for a
 * newer version or one without a migration, and E_CONFIG_INVALID for a file that is invalid before or after the
 * migration.
 */
export async function migrateConfig(
  file: string,
  { root, dryRun, env }: { root: string; dryRun: boolean; env: Readonly<Record<string, string | undefined>> },
): Promise<MigratedConfig> {
  refuseLeadingOut(file, root);
  const read = await readYamlFile(file);
  refuse(read.problems);
  const from = versionOf(read.value) ?? CONFIG_VERSION;
  const steps = stepsFrom(from, file);
  if (steps.length === 0) return { from, to: CONFIG_VERSION, steps: [], diff: '', backup: null };

  const before = readFileSync(file, 'utf8');
  const after = await migrated(before, steps);
  const yaml = await parseYaml(file, after);
  refuse(yaml.problems);
  // An upgrade does not need the values of variables.
  const lines = new Set(expandVariables(read, env).problems.map(({ line }) => line));
  const { value } = expandVariables(yaml, env);
  // The author has only the file before: its places and keys are named.
  const pathBefore = (path: KeyPath) =>
    steps.reduceRight((after, step) => step.pathBefore(after, read.value), path);
  const { problems } = checkFile(configFile, read, value, undefined, pathBefore);
  refuse(problems.filter(({ line }) => !lines.has(line)));

  const diff = unifiedDiff(relative(root, file), before, after);
  if (dryRun)
    return { from, to: CONFIG_VERSION, steps: steps.map(({ summary }) => summary), diff, backup: null };
  const backup = freeName(`${file}.bak-${from}`);
  replaceFile(file, before, backup);
  replaceFile(file, after);
  return { from, to: CONFIG_VERSION, steps: steps.map(({ summary }) => summary), diff, backup };
}

function stepsFrom(version: number, file: string): Migration[] {
  if (version > CONFIG_VERSION) {
    throw new AcorError(
      'E_INCOMPATIBLE',
      `${file} has version ${version}, but ACOR ${ACOR_VERSION} reads at most version ${CONFIG_VERSION}`,
      {
        hint: `Use a newer ACOR; files are never migrated to an older version.`,
        details: { version, supported: CONFIG_VERSION },
        next: [SEE_VERSIONS],
      },
    );
  }
  const steps: Migration[] = [];
  for (let at = version; at < CONFIG_VERSION; at = steps.at(-1)!.to) {
    const step = MIGRATIONS.find(({ from }) => from === at);
    if (step === undefined) {
      throw new AcorError(
        'E_INCOMPATIBLE',
        `there is no migration from version ${at} of ${file} to version ${CONFIG_VERSION}`,
        {
          hint: `Write a new file with version: ${CONFIG_VERSION}.`,
          details: { version: at, supported: CONFIG_VERSION },
        },
      );
    }
    steps.push(step);
  }
  return steps;
}

async function migrated(text: string, steps: readonly Migration[]): Promise<string> {
  const yaml = await import('yaml');
  const document = yaml.parseDocument(text, { stringKeys: true });
  for (const step of steps) {
    step.apply(document, yaml);
    document.set('version', step.to);
  }
  if (document.has('acor_version')) document.set('acor_version', ACOR_VERSION);
  return textLike(text, document, yaml);
}

/** Do not overwrite an earlier backup. */
function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!existsSync(name)) return name;
  }
}
