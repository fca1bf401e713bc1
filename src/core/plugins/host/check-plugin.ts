import type { LanguageHandler, Plugin } from '../plugin.ts';

export const HOOKS = ['onDiscovery', 'onPreRun', 'onEvent'] as const;
export type Hook = (typeof HOOKS)[number];

const KEYS: readonly string[] = [...HOOKS, 'languages'];
const LANGUAGE_KEYS: readonly string[] = ['name', 'extensions', 'detect', 'runtime', 'command'];

/** Validates a module's default export as a plugin. Throws a message when it is invalid. */
export function checkPlugin(exported: unknown): Plugin {
  if (typeof exported !== 'object' || exported === null) {
    throw new Error('its default export is not an object; write: export default { onEvent(event) { … } }');
  }
  refuseUnknown(exported, KEYS, 'its default export');
  const plugin = exported as Plugin;
  for (const hook of HOOKS) {
    if (plugin[hook] !== undefined && typeof plugin[hook] !== 'function')
      throw new Error(`its ${hook} is not a function`);
  }
  if (plugin.languages !== undefined) {
    if (!Array.isArray(plugin.languages)) throw new Error('its languages are not a list');
    plugin.languages.forEach(checkLanguage);
  }
  return plugin;
}

function checkLanguage(language: LanguageHandler, index: number): void {
  const where = `its languages[${index}]`;
  if (typeof language !== 'object' || language === null) throw new Error(`${where} is not an object`);
  refuseUnknown(language, LANGUAGE_KEYS, where);
  if (!/^[a-z][a-z0-9_-]*$/.test(language.name)) {
    throw new Error(`${where} needs a name of lower-case letters, digits, - and _`);
  }
  for (const step of ['detect', 'runtime', 'command'] as const) {
    if (typeof language[step] !== 'function') throw new Error(`${where} has no function '${step}'`);
  }
  const { extensions = [] } = language;
  if (!Array.isArray(extensions) || !extensions.every((each) => /^\.[a-z0-9]+$/.test(each))) {
    throw new Error(`${where} has extensions that are not of the form '.pl'`);
  }
}

function refuseUnknown(holder: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(holder).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new Error(`${where} has an unknown key '${unknown}'; valid keys: ${known.join(', ')}`);
}
