import { DEPRECATIONS, deprecationFix } from '../../protocol/deprecations.ts';
import type { Setting } from './settings-cache.ts';

/** Renames settings with deprecated keys to their new keys; one without a new key stays, and has no effect. A setting under its new key wins. */
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
  const { to } = found;
  const deprecated = { key, fix: deprecationFix(found, setting.value) };
  if (typeof to !== 'string') return { ...setting, deprecated: { ...deprecated, isRemoved: true } };
  return {
    ...setting,
    path: [...setting.path.slice(0, -1), to],
    value: found.rewrite(setting.value),
    deprecated,
  };
}
