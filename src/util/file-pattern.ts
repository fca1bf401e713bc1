/** The kernel takes no longer path. */
const MAX_PATH_CHARS = 4096;

/** Places in a path as bits of a number: bit 0 is the place before its first character. */
type Places = bigint;

/** Takes the places that the pattern has reached to those that it reaches next. */
type Step = (reached: Places, path: Path) => Places;

/**
 * A pattern of paths or names. It advances from all its places in a path at once, so that a test takes time linear in path and pattern:
 * an expression that backtracks takes exponential time for a pattern with many `*`.
 */
export class FilePattern {
  readonly #steps: readonly Step[];

  private constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  /** `*` and `?` match within a name, `**` across folders, `{a,b}` matches either. */
  static ofPaths(this: void, glob: string): FilePattern {
    return new FilePattern(stepsOf(glob));
  }

  /** `*` matches any part of a name. No other character has a meaning. */
  static ofNames(this: void, name: string): FilePattern {
    return new FilePattern([...name].map((char) => (char === '*' ? withinName : literal(char))));
  }

  /** A text that is longer than any path matches nothing. */
  test(text: string): boolean {
    if (text.length > MAX_PATH_CHARS) return false;
    const path = new Path(text);
    return (after(this.#steps, 1n, path) & path.end) !== 0n;
  }
}

/** A path, and where its characters are. */
class Path {
  readonly #chars: readonly string[];
  readonly #places = new Map<string, Places>();
  readonly end: Places;
  /** The places before a character of a name. */
  readonly inNames: Places;

  constructor(text: string) {
    this.#chars = [...text];
    this.end = 1n << BigInt(this.#chars.length);
    this.inNames = (this.end - 1n) ^ this.before('/');
  }

  /** The places before a character. */
  before(char: string): Places {
    let places = this.#places.get(char);
    if (places === undefined) {
      places = 0n;
      for (let at = this.#chars.indexOf(char); at !== -1; at = this.#chars.indexOf(char, at + 1))
        places |= 1n << BigInt(at);
      this.#places.set(char, places);
    }
    return places;
  }
}

function after(steps: readonly Step[], begin: Places, path: Path): Places {
  let reached = begin;
  for (const step of steps) {
    if (reached === 0n) break;
    reached = step(reached, path);
  }
  return reached;
}

function stepsOf(glob: string): Step[] {
  const tokens = glob.match(/\*\*\/|\*\*|\{[^{}]*\}|[\s\S]/gu) ?? [];
  return tokens.map(
    (token) =>
      WILDCARDS.get(token) ?? (token.length > 1 && token.startsWith('{') ? eitherOf(token) : literal(token)),
  );
}

const WILDCARDS: ReadonlyMap<string, Step> = new Map([
  ['**/', folders],
  ['**', anything],
  ['*', withinName],
  ['?', oneOfName],
]);

function literal(char: string): Step {
  return (reached, path) => (reached & path.before(char)) << 1n;
}

function oneOfName(reached: Places, { inNames }: Path): Places {
  return (reached & inNames) << 1n;
}

function withinName(reached: Places, { inNames }: Path): Places {
  return reached | through(inNames, reached);
}

/** All places from the first one on. */
function anything(reached: Places, { end }: Path): Places {
  return (reached | -reached) & ((end << 1n) - 1n);
}

/** Any number of whole names, each with its slash. */
function folders(reached: Places, path: Path): Places {
  const { inNames } = path;
  const slashes = path.before('/');
  const ofFolders = inNames | (slashes & (inNames << 1n));
  return reached | (through(ofFolders, reached & inNames) & (slashes << 1n));
}

/** The places from those that are reached up to the end of their run of characters: the sum carries through each run. */
function through(runs: Places, reached: Places): Places {
  const begins = reached & runs;
  return ((begins + runs) ^ runs) | begins;
}

function eitherOf(braces: string): Step {
  const alternatives = braces.slice(1, -1).split(',').map(stepsOf);
  return (reached, path) => alternatives.reduce((ends, steps) => ends | after(steps, reached, path), 0n);
}
