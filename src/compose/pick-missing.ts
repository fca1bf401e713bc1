import type { CliApp } from './cli-app.ts';
import type { CommandLine } from './flags.ts';
import type { Operation } from './operation.ts';
import type { Parameter } from './parameters.ts';
import type { Person } from './person.ts';

/** A longer list is searched by a command, not by eye. */
const MOST_CHOICES = 50;

/**
 * Lets the person at the terminal choose the value of a required input that is missing, or type it where the application
 * asks for every input. Returns whether there is a value now.
 */
export async function pickMissing<C>(
  app: Pick<CliApp<C>, 'values' | 'asksForMissing'>,
  op: Operation<C>,
  parameter: Parameter,
  line: CommandLine,
  { person, context, signal }: { person: Person; context: C; signal: AbortSignal },
): Promise<boolean> {
  const { key, flag, description, isSecret } = parameter;
  const known = await (await app.values?.())?.({ op, key, given: new Map() }, context);
  const values = known ?? choicesOf(parameter);
  let value: string | undefined;
  if (person.ask !== undefined && values !== undefined && values.length > 0) {
    const options = values
      .slice(0, MOST_CHOICES)
      .map(({ value: id, about }) => ({ id, label: id, ...(about && { description: about }) }));
    const question = {
      actionId: key,
      action: key,
      audience: 'user' as const,
      msg: `Which ${flag}?`,
      context: {},
      options,
      schema: undefined,
      default: undefined,
      isOwn: true as const,
    };
    const picked = await person.ask(question, () => undefined, signal);
    value = picked && String(picked.value);
  } else if (app.asksForMissing === true) {
    const asked = description.replace(/\.$/, '') || flag;
    value = isSecret ? await person.askForSecret(asked) : await person.askForText([], asked);
  }
  if (value === undefined || value === '') return false;
  line.given.set(key, [value]);
  return true;
}

function choicesOf({ enum: values, kind }: Parameter): { value: string; about: string }[] | undefined {
  const words = kind === 'boolean' ? ['true', 'false'] : values;
  return words?.map((value) => ({ value: String(value), about: '' }));
}
