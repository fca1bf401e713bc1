import { GLOBAL_FLAGS } from './globals.ts';

/** Which command an argument list calls. */
export interface FoundCommand<R> {
  /** Undefined when no route has these words. */
  route: R | undefined;
  /** The words that were recognised: a command, or the beginning of some. */
  words: string[];
  /** What is left for flags and positionals, global flags from before the command included. */
  args: string[];
}

/** Finds the longest command among the routes; global flags may stand before and between its words. */
export function findCommand<R extends { command: string }>(
  routes: readonly R[],
  argv: readonly string[],
): FoundCommand<R> {
  const words: string[] = [];
  const globals: string[] = [];
  let index = 0;
  while (index < argv.length) {
    const arg = argv[index]!;
    if (arg.startsWith('-')) {
      const length = routes.some((route) => route.command === words.join(' '))
        ? 0
        : globalLength(argv, index);
      if (length === 0) break;
      globals.push(...argv.slice(index, index + length));
      index += length;
      continue;
    }
    const longer = [...words, arg].join(' ');
    if (!routes.some((route) => `${route.command} `.startsWith(`${longer} `))) break;
    words.push(arg);
    index++;
  }
  const route = routes.find((each) => each.command === words.join(' '));
  const rest = argv.slice(index);
  if (route === undefined && words.length === 0 && rest[0] === 'help') {
    return findCommand(routes, [...globals, ...rest.slice(1), '--help']);
  }
  return { route, words, args: [...globals, ...rest] };
}

/** How many arguments the global flag at this place takes up; 0 when it is none. */
function globalLength(argv: readonly string[], index: number): number {
  const arg = argv[index]!;
  const [name, inline] = arg.slice(2).split('=', 2);
  const flag = GLOBAL_FLAGS.find((each) =>
    arg.startsWith('--') ? each.name === name : arg === `-${each.short}`,
  );
  if (flag === undefined) return 0;
  return flag.type === 'boolean' || inline !== undefined ? 1 : Math.min(2, argv.length - index);
}
