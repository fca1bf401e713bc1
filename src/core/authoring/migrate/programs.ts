import { shellCommand } from '../../../util/shell-words.ts';

/** A tool, and the words behind the program that it replaces. */
export interface Replacement {
  tool: string;
  words: readonly string[];
}

/** The new command line: its commands are the tools of the migration, its answers envelopes. */
export function wrapperScript(program: string): string {
  return `#!/bin/sh
# The command line of ${program} for agents, written by \`acor compose migrate\`. Its commands are the tools of the category ${program}.
exec acor compose call ${shellCommand([program])} "$@"
`;
}

/** The old command line, unchanged, with a notice on stderr where a tool replaces the call. Put its folder before others in the PATH. */
export function deprecatedScript(
  program: string,
  path: string,
  replacements: readonly Replacement[],
): string {
  const cases = replacements
    .filter(({ words }) => words.length > 0)
    .toSorted((a, b) => b.words.length - a.words.length)
    .map(
      ({ tool, words }) =>
        `  ${shellCommand([`${words.join(' ')} `])}*) replacement=${shellCommand([`acor run ${tool}`])} ;;`,
    );
  const whole = replacements.find(({ words }) => words.length === 0);
  return `#!/bin/sh
# The old command line of ${program}, written by \`acor compose migrate\`: it calls ${path} with the same arguments.
replacement=${whole === undefined ? "''" : shellCommand([`acor run ${whole.tool}`])}
case "$* " in
${cases.join('\n')}
esac
[ -z "$replacement" ] || echo "deprecated: for agents, use: $replacement" >&2
exec ${shellCommand([path])} "$@"
`;
}
