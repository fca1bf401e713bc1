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

interface DeniedNames {
  names: RegExp;
  /** What a variable with one of these names does to a program. */
  why: string;
}

/** Variables that change which code a program runs, rather than its data. The first matching row counts. */
export const DENIED: readonly DeniedNames[] = [
  {
    names: /^(?:LD_|DYLD_|GCONV_PATH$|GLIBC_TUNABLES$|MALLOC_TRACE$|LOCPATH$|NLSPATH$)/,
    why: 'it makes the loader and the C library run or read other files',
  },
  {
    names:
      /^(?:NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_EXTERNAL_MODULE|V8_COVERAGE|REDIRECT_WARNINGS|ICU_DATA)$|BUN_|DENO_|ELECTRON_RUN_AS_NODE$|npm_config_|NPM_CONFIG_)/,
    why: 'it makes the JavaScript runtime load other code',
  },
  {
    names:
      /^PYTHON(?:PATH|HOME|STARTUP|INSPECT|EXECUTABLE|PLATLIBDIR|WARNINGS|BREAKPOINT|USERBASE|PYCACHEPREFIX|CASEOK)$/,
    why: 'it makes Python load other code',
  },
  {
    names: /^(?:BASH_|BASHOPTS$|SHELLOPTS$|PS4$|PROMPT_COMMAND$|IFS$|CDPATH$|GLOBIGNORE$|ZDOTDIR$)/,
    why: 'it makes a shell run other code, or parse commands differently',
  },
  {
    names:
      /^(?:GIT_|SSH_ASKPASS$|SUDO_ASKPASS$|(?:GIT_)?(?:PAGER|EDITOR)$|VISUAL$|LESSOPEN$|LESSCLOSE$|BROWSER$)/,
    why: 'it makes git and similar tools start other programs',
  },
  {
    names:
      /^(?:PERL5?(?:LIB|OPT|DB)$|RUBY(?:OPT|LIB)$|GEM_(?:HOME|PATH)$|BUNDLE_|PHPRC$|PHP_INI_SCAN_DIR$|LUA_(?:INIT|PATH|CPATH))/,
    why: 'it makes an interpreter load other code',
  },
  {
    names:
      /^(?:_?JAVA_(?:TOOL_)?OPTIONS$|JDK_JAVA_OPTIONS$|CLASSPATH$|DOTNET_(?:STARTUP_HOOKS|ADDITIONAL_DEPS|SHARED_STORE)$|COR(?:ECLR)?_|COMPlus_)/,
    why: 'it makes a virtual machine load other code',
  },
  {
    names:
      /^(?:OPENSSL_CONF$|OPENSSL_MODULES$|OPENSSL_ENGINES$|SSLKEYLOGFILE$|HOSTALIASES$|RES_OPTIONS$|LOCALDOMAIN$)/,
    why: 'it changes the destination of encrypted connections, or who can read them',
  },
  {
    names:
      /^(?:ACOR_|RUN_ID$|TRACE_ID$|SPAN_ID$|TRACEPARENT$|TRACESTATE$|WORKSPACE$|DEADLINE_TS$|CANCEL_FILE$|AI_PROTOCOL_VERSION$|LOG_DIR$|ARTIFACTS_DIR$|CHECKPOINT_DIR$|ANSWERS_DIR$|SECRETS_DIR$)/,
    why: 'the runner sets it itself',
  },
];

/** The variables that nearly every tool gets (contract §2), which nothing above denies: to compile the expressions takes 0.5 ms. */
export const PLAIN: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'USERNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TMPDIR',
  'TEMP',
  'TMP',
]);

/** Why a tool must not get a variable of this name; undefined when it may. */
export function whyDenied(name: string): string | undefined {
  if (PLAIN.has(name)) return undefined;
  return DENIED.find(({ names }) => names.test(name))?.why;
}

const EXEC = 'exec:';

/** The name of a run of `acor exec`. No tool can have it. */
export function execName(program: string): string {
  return `${EXEC}${program}`;
}

/** The program that `acor exec` runs; undefined for any other name. */
export function execProgram(name: string): string | undefined {
  return name.startsWith(EXEC) ? name.slice(EXEC.length) : undefined;
}

/** Whether a name is not that of a tool of the project: a file by its path, or a program. */
export function isAdHoc(name: string): boolean {
  return name.startsWith('/') || name.startsWith(EXEC);
}

/** Whether a name has characters that mean something else in a manifest, or that a manifest must not contain: a line with it would grant something else. */
export function hasMeaning(name: string): boolean {
  return /[*$~\p{Cc}]/u.test(name);
}
