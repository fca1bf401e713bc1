import { readdirSync } from 'node:fs';
import { compatibilityOf } from '../../core/authoring/validation/checkers/versions.ts';
import { openSubject, type Subject } from '../../core/authoring/validation/subject.ts';
import { CONFIG_VERSION } from '../../core/config/config-version.ts';
import { problemText } from '../../core/config/problem.ts';
import { readYamlFile } from '../../core/config/yaml-file.ts';
import { CEDAR_PACKAGE, findCedar } from '../../core/guard/engine-cedar.ts';
import { SUPPORTED_PROTOCOLS } from '../../core/registry/compatibility.ts';
import { installation, installFolder, ownFile } from '../../core/registry/own-files.ts';
import { BACKENDS } from '../../core/sandbox/choose.ts';
import { selfUpdate } from './self-update.ts';
import type { VersionDetails } from './version-shape.ts';

/** The versions of everything that a run depends on. Lists the problems of an incompatible project instead of failing. */
export async function versionDetails(surroundings: {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<VersionDetails> {
  const { bun, node } = process.versions;
  const cedar = findCedar(installFolder());
  return {
    config_schema: CONFIG_VERSION,
    protocols: [...SUPPORTED_PROTOCOLS],
    schemas: readdirSync(ownFile('schemas')).sort(),
    installed: { ...installation(), update_with: selfUpdate() },
    runtime: bun === undefined ? `node ${node}` : `bun ${bun}`,
    platform: `${process.platform}-${process.arch}`,
    features: {
      sandboxes: await Promise.all(
        BACKENDS.map(async ({ name, load }) => {
          const { available, detail } = await (await load()).probe();
          return { name, available, detail };
        }),
      ),
      peers: [
        {
          name: CEDAR_PACKAGE,
          available: cedar !== undefined,
          detail: cedar ?? 'not installed; policies with engine: cedar need it',
        },
      ],
    },
    project: await projectDetails(await openSubject([], surroundings)),
  };
}

async function projectDetails(subject: Subject): Promise<VersionDetails['project']> {
  const { config, versionFiles } = subject;
  const written = config.file === null ? {} : await contentOf(config.file);
  const made = versionFiles[0] === undefined ? {} : await contentOf(versionFiles[0]);
  const findings = await compatibilityOf(subject);
  const maker = made['created_by'] ?? written['acor_version'];
  return {
    root: config.root,
    config_version: Number.isSafeInteger(written['version']) ? Number(written['version']) : CONFIG_VERSION,
    created_by: typeof maker === 'string' ? maker : null,
    version_file: versionFiles[0] ?? null,
    compatible: findings.every(({ severity }) => severity === 'warning'),
    problems: findings.map((each) => `${problemText({ ...each, column: each.col })}. ${each.fix}`),
  };
}

async function contentOf(file: string): Promise<Record<string, unknown>> {
  const { value } = await readYamlFile(file);
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
