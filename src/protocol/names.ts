/** The form of a tool's name: it becomes a file name, a word of a command line and a part of an MCP name. */
export const TOOL_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

export const TOOL_NAME_RULE =
  'must be 1 to 64 lower-case letters, digits, - or _, with a letter or digit at both ends';

/** The name of a secret. It is also its file name in the store and in `SECRETS_DIR`. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export const SECRET_NAME_RULE =
  'must be usable as a file name: letters, digits, _ . and -, at most 128 of them, the first one no . or -';

/**
 * The file name of a plugin. The part before the extension is the plugin's name, which must be known before any of its
 * code runs.
 */
export const PLUGIN_FILE = /(?:^|\/)([a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?)\.(?:ts|mts|js|mjs)$/;

/** The name of the plugin in a file. */
export function pluginName(file: string): string {
  return PLUGIN_FILE.exec(file)?.[1] ?? file;
}
