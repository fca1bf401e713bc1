/** The abilities of a person's screen. */
export interface Screen {
  /** In columns. */
  width: number;
  color: boolean;
  unicode: boolean;
  /** Whether a line can be redrawn in place. */
  live: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_WIDTH = 80;

/** Detects the screen's abilities from the terminal and the environment. */
export function detectScreen(facts: { isTTY: boolean; columns: number | undefined; env: Env }): Screen {
  const isDumb = facts.env['TERM'] === 'dumb';
  return {
    width: widthOf(facts.columns, facts.env),
    color: wantsColor(facts.isTTY && !isDumb, facts.env),
    unicode: speaksUnicode(facts.env),
    live: facts.isTTY && !isDumb && !isSet(facts.env['CI']),
  };
}

function widthOf(columns: number | undefined, env: Env): number {
  if (columns !== undefined && columns > 0) return columns;
  const wanted = Number(env['COLUMNS']);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : DEFAULT_WIDTH;
}

// FORCE_COLOR is more specific and takes precedence over NO_COLOR, as in Node.
function wantsColor(byDefault: boolean, env: Env): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  return byDefault;
}

// POSIX: the first of these that is set and not empty decides. Unset, as in many containers, means UTF-8.
function speaksUnicode(env: Env): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  return locale === undefined || locale === '' || /utf-?8/i.test(locale);
}

/** A build log stores every redrawn line, so CI gets no redrawing. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
