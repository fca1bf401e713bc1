import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { leavesOf } from '../../src/core/config/layers.ts';
import { TrustStore } from '../../src/core/config/trust.ts';
import { upToDate } from '../../src/core/config/up-to-date.ts';
import { expandVariables } from '../../src/core/config/variables.ts';
import { wideningsOf } from '../../src/core/config/widening.ts';
import { configDefaults } from '../../src/protocol/config-defaults.ts';
import { readRegular } from '../../src/util/regular-file.ts';

/** Trusts the configuration of the project that contains `folder`, as the person did who wrote it. An invalid one stays as it is. */
export function trustProject(folder: string, env: Record<string, string | undefined>): void {
  const root = rootOf(folder);
  if (root === undefined) return;
  try {
    const text = readRegular(join(root, '.acor', 'config.yaml')).toString();
    const { value } = expandVariables({ value: parse(text), placeOf: () => ({}) } as never, env);
    const settings = upToDate(leavesOf(value as never).map((leaf) => ({ ...leaf, where: '' })));
    const widenings = wideningsOf(settings, {
      base: configDefaults(),
      users: new Set(),
      root: realpathSync(root),
    });
    if (widenings.length > 0) new TrustStore(env).write(root, widenings, { by: 'test', at: '' });
  } catch {}
}

function rootOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.acor', 'config.yaml'))) return folder;
  return folder === dirname(folder) ? undefined : rootOf(dirname(folder));
}
