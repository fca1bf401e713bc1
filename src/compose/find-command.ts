import { GLOBAL_FLAGS } from './globals.ts';

/** The command that an argument list calls. */
export interface FoundCommand<R> {
  /** Undefined when no route has these words. */
  route: R | undefined;
  /** The recognised words: a command, or the beginning of one. */
  words: string[];
  /** The remaining flags and positionals, including global flags before the command. */
  args: string[];
}

/** Finds the longest matching command; global flags may be before and between its words. */
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

/** The number of arguments that the global flag at this index takes; 0 when there is no global flag. */
function globalLength(argv: readonly string[], index: number): number {
  const arg = argv[index]!;
  const [name, inline] = arg.slice(2).split('=', 2);
  const flag = GLOBAL_FLAGS.find((each) =>
    arg.startsWith('--') ? each.name === name : arg === `-${each.short}`,
  );
  if (flag === undefined) return 0;
  return flag.type === 'boolean' || inline !== undefined ? 1 : Math.min(2, argv.length - index);
}
