/** What a tool may be called: it becomes a file name, a word of a command line and a part of an MCP name. */
export const TOOL_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

export const TOOL_NAME_RULE =
  'must be 1 to 64 lower-case letters, digits, - or _, with a letter or digit at both ends';

/** The name of a secret; it is the name of a file as well, in the store and in `SECRETS_DIR`. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export const SECRET_NAME_RULE =
  'must be usable as a file name: letters, digits, _ . and -, at most 128 of them, the first one no . or -';

/** A module that is a plugin; what stands before the extension is its name, which has to be known before any of it runs. */
export const PLUGIN_FILE = /(?:^|\/)([a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?)\.(?:ts|mts|js|mjs)$/;

/** The name of the plugin in a file. */
export function pluginName(file: string): string {
  return PLUGIN_FILE.exec(file)?.[1] ?? file;
}
