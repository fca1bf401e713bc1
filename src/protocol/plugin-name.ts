/** A module that is a plugin; what stands before the extension is its name, which has to be known before any of it runs. */
export const PLUGIN_FILE = /(?:^|\/)([a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?)\.(?:ts|mts|js|mjs)$/;

/** The name of the plugin in a file. */
export function pluginName(file: string): string {
  return PLUGIN_FILE.exec(file)?.[1] ?? file;
}
