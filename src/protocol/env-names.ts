interface DeniedNames {
  names: RegExp;
  /** What a variable with one of these names does to a program. */
  why: string;
}

/** Variables that change which code a program runs, rather than its data. The first matching row counts. */
const DENIED: readonly DeniedNames[] = [
  {
    names: /^(?:LD_|DYLD_|GCONV_PATH$|GLIBC_TUNABLES$|MALLOC_TRACE$|LOCPATH$|NLSPATH$)/,
    why: 'the loader and the C library run or read other files because of it',
  },
  {
    names:
      /^(?:NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_EXTERNAL_MODULE|V8_COVERAGE|REDIRECT_WARNINGS|ICU_DATA)$|BUN_|DENO_|ELECTRON_RUN_AS_NODE$|npm_config_|NPM_CONFIG_)/,
    why: 'the JavaScript runtime loads other code because of it',
  },
  {
    names:
      /^PYTHON(?:PATH|HOME|STARTUP|INSPECT|EXECUTABLE|PLATLIBDIR|WARNINGS|BREAKPOINT|USERBASE|PYCACHEPREFIX|CASEOK)$/,
    why: 'Python loads other code because of it',
  },
  {
    names: /^(?:BASH_|BASHOPTS$|SHELLOPTS$|PS4$|PROMPT_COMMAND$|IFS$|CDPATH$|GLOBIGNORE$|ZDOTDIR$)/,
    why: 'a shell runs other code, or reads commands otherwise, because of it',
  },
  {
    names:
      /^(?:GIT_|SSH_ASKPASS$|SUDO_ASKPASS$|(?:GIT_)?(?:PAGER|EDITOR)$|VISUAL$|LESSOPEN$|LESSCLOSE$|BROWSER$)/,
    why: 'git and its like start other programs because of it',
  },
  {
    names:
      /^(?:PERL5?(?:LIB|OPT|DB)$|RUBY(?:OPT|LIB)$|GEM_(?:HOME|PATH)$|BUNDLE_|PHPRC$|PHP_INI_SCAN_DIR$|LUA_(?:INIT|PATH|CPATH))/,
    why: 'an interpreter loads other code because of it',
  },
  {
    names:
      /^(?:_?JAVA_(?:TOOL_)?OPTIONS$|JDK_JAVA_OPTIONS$|CLASSPATH$|DOTNET_(?:STARTUP_HOOKS|ADDITIONAL_DEPS|SHARED_STORE)$|COR(?:ECLR)?_|COMPlus_)/,
    why: 'a virtual machine loads other code because of it',
  },
  {
    names:
      /^(?:OPENSSL_CONF$|OPENSSL_MODULES$|OPENSSL_ENGINES$|SSLKEYLOGFILE$|HOSTALIASES$|RES_OPTIONS$|LOCALDOMAIN$)/,
    why: 'it changes where encrypted connections lead, or who can read them',
  },
  {
    names:
      /^(?:ACOR_|RUN_ID$|TRACE_ID$|SPAN_ID$|TRACEPARENT$|WORKSPACE$|DEADLINE_TS$|CANCEL_FILE$|AI_PROTOCOL_VERSION$|LOG_DIR$|ARTIFACTS_DIR$|CHECKPOINT_DIR$|ANSWERS_DIR$|SECRETS_DIR$)/,
    why: 'the runner itself says what it is',
  },
];

/** Why a tool must not get a variable of this name; undefined when it may. */
export function whyDenied(name: string): string | undefined {
  return DENIED.find(({ names }) => names.test(name))?.why;
}
