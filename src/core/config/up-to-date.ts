import { DEPRECATIONS, deprecationFix } from '../../protocol/deprecations.ts';
import type { Setting } from './settings-cache.ts';

/** Settings by outdated keys become those that they stand for; a setting by its new key wins over them. */
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
