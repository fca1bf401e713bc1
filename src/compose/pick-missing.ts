import type { CliApp } from './cli-app.ts';
import type { CommandLine } from './flags.ts';
import type { Operation } from './operation.ts';
import type { Parameter } from './parameters.ts';
import type { Person } from './person.ts';

/** A longer list is searched by a command, not by eye. */
const MOST_CHOICES = 50;

/** Lets the person at the terminal choose the value of the first required positional that is missing. */
export async function pickMissing<C>(
  app: Pick<CliApp<C>, 'values'>,
  op: Operation<C>,
  parameter: Parameter,
  line: CommandLine,
  { person, context, signal }: { person: Person; context: C; signal: AbortSignal },
): Promise<void> {
  const values = await (await app.values?.())?.({ op, key: parameter.key, given: new Map() }, context);
  if (person.ask === undefined || values === undefined || values.length === 0) return;
  const options = values
    .slice(0, MOST_CHOICES)
    .map(({ value, about }) => ({ id: value, label: value, ...(about && { description: about }) }));
  const picked = await person.ask(
    {
      actionId: parameter.key,
      action: parameter.key,
      audience: 'user',
      msg: `Which ${parameter.flag}?`,
      context: {},
      options,
      schema: undefined,
      default: undefined,
    },
    () => undefined,
    signal,
  );
  if (picked !== undefined) line.given.set(parameter.key, [String(picked.value)]);
}
