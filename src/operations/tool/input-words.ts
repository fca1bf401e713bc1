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
    fix: problem.rule === 'required' ? `Add '${problem.input}'.` : fix,
  };
}
