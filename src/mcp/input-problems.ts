import type { EnvelopeError } from '../compose/envelope.ts';

interface Problem {
  input: string;
  rule: string;
  message: string;
  fix: string;
}

/** An error about the arguments of a tool in the words of a client that has inputs and no flags. Any other error as it is. */
export function withoutFlags(error: EnvelopeError): EnvelopeError {
  const { problems, usage, ...details } = error.details ?? {};
  if (error.code !== 'E_USAGE' || typeof usage !== 'string' || !Array.isArray(problems)) return error;
  const plain = (problems as Problem[]).map(asInput);
  const tool = usage.split(' ', 1)[0]!;
  return {
    ...error,
    message: `${tool}: ${plain.map(({ message }) => message).join('; ')}`,
    hint: plain.map(({ fix }) => fix).join(' '),
    details: { ...details, problems: plain },
  };
}

function asInput({ message, fix, ...problem }: Problem): Problem {
  return {
    ...problem,
    message: message.replace('--input-json names', 'the arguments name'),
    fix: problem.rule === 'required' ? `Add '${problem.input}'.` : fix,
  };
}
