/** What a tool may be called: it becomes a file name, a word of a command line and a part of an MCP name. */
export const TOOL_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

export const TOOL_NAME_RULE =
  'must be 1 to 64 lower-case letters, digits, - or _, with a letter or digit at both ends';
