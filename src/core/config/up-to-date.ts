import { DEPRECATIONS, deprecationFix } from '../../protocol/deprecations.ts';
import type { Setting } from './settings-cache.ts';

/** Renames settings with deprecated keys to their new keys. A setting under its new key wins. */
export function upToDate(settings: readonly Setting[]): Setting[] {
  const renewed = settings.map(renew);
  return [
    ...renewed.filter(({ deprecated }) => deprecated !== undefined),
    ...renewed.filter(({ deprecated }) => deprecated === undefined),
  ];
}

function renew(setting: Setting): Setting {
  const key = setting.path.join('.');
  const found = DEPRECATIONS.find(({ file, path }) => file === 'config' && path === key);
  if (found === undefined) return setting;
  return {
    path: [...setting.path.slice(0, -1), found.to],
    value: found.rewrite(setting.value),
    where: setting.where,
    deprecated: { key, fix: deprecationFix(found, setting.value) },
  };
}
