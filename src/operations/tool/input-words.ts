import { flagOf } from '../../protocol/input-types.ts';

interface Problem {
  input: string;
  rule: string;
  message: string;
  fix: string;
}

/** The parts of an error that may speak of a command line. */
interface Wrong {
  code: string;
  message: string;
  hint?: string | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
}

/** An error about the arguments of a tool in the words of a caller that passes inputs, not flags, with all problems. Any other error as it is. */
export function inInputs<T extends Wrong>(error: T): T {
  const { problems, usage, ...details } = error.details ?? {};
  if (typeof usage !== 'string' || !Array.isArray(problems)) return error;
  const plain = (problems as Problem[]).map(asInput);
  const tool = usage.split(' ', 1)[0]!;
  return {
    ...error,
    message: `${tool}: ${plain.map(({ message }) => message).join('; ')}`,
    hint: [...new Set(plain.map(({ fix }) => fix))].join(' '),
    details: { ...details, problems: plain },
  };
}

function asInput({ message, fix, ...problem }: Problem): Problem {
  return {
    ...problem,
    message: message.replace(/^--input-json names/, 'the arguments name'),
    fix: fix.startsWith('Add ') ? withNames(fix, problem) : fix,
  };
}

/** What is to be added, by name: `Add --a <int>. Or: Add --b <int>.` */
function withNames(fix: string, { input, rule }: Omit<Problem, 'message' | 'fix'>): string {
  if (rule === 'required') return `Add '${input}'.`;
  return fix.replaceAll(/(--[\w-]+)(?: <\w+>)?/g, (_, flag: string) =>
    flag === flagOf({ name: input }) ? `'${input}'` : `'${flag.slice(2).replaceAll('-', '_')}'`,
  );
}
