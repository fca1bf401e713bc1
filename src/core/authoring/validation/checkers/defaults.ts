import { AcorError } from '../../../../protocol/acor-error.ts';
import { inexactNumbers } from '../../../config/inexact-numbers.ts';
import type { KeyPath } from '../../../config/yaml-file.ts';
import { problemsBySchema } from '../../../registry/check-by-schema.ts';
import { ofDefault, problemsOfDefaults } from '../../../registry/check-defaults.ts';
import { inputsOf } from '../../../registry/input-schema.ts';
import type { ReadInput } from '../../../registry/read-inputs.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import { problemOfSecret } from '../../../secrets/secret.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, manifestOf } from '../finding.ts';

/** Checks that the inputs of a tool accept their defaults. */
export const defaults: Checker = {
  name: 'defaults',
  async check({ tools }) {
    return (await Promise.all(tools.map(checkTool))).flat();
  },
};

async function checkTool(tool: ToolEntry): Promise<Finding[]> {
  const { manifest } = tool;
  const specs = (inputsOf(manifest) ?? []).filter((spec) => spec.default !== undefined);
  const source = specs.length === 0 ? undefined : await manifestOf(tool);
  if (source === undefined) return [];
  const { file, yaml } = source;
  const pathOf = (name: string): KeyPath =>
    manifest.inputs === undefined
      ? ['input_schema', 'properties', name, 'default']
      : ['inputs', manifest.inputs.findIndex((input) => input.name === name), 'default'];
  const { read, problems } = problemsOfDefaults(specs);
  const wrong = [...shortSecrets(read), ...(problems.length > 0 ? problems : await bySchema(tool, read))];
  return [
    ...specs.flatMap(({ name, default: value }) => inexactNumbers(yaml, pathOf(name), value)),
    ...wrong.map(({ input, message, fix }) => ({
      file,
      ...yaml.placeOf(pathOf(input)),
      rule: 'default-value',
      message,
      fix,
    })),
  ].map(findingOf);
}

/** Defaults of secret inputs with which every run is refused. */
function shortSecrets(read: readonly ReadInput[]) {
  return read.flatMap(({ spec: { name, secret }, values }) => {
    const problem = values
      .filter(({ text }) => secret && text !== '')
      .map(({ text }) => problemOfSecret(Buffer.from(text)))
      .find((each) => each !== undefined);
    if (problem === undefined) return [];
    const message = `the default of the secret input '${name}' cannot be used: ${problem.what}`;
    return [{ input: name, message, fix: "Leave the default out, or remove 'secret: true'." }];
  });
}

/** The problems of the defaults themselves: what else a call needs is no concern of theirs. */
async function bySchema(tool: ToolEntry, read: readonly ReadInput[]) {
  try {
    const problems = await problemsBySchema(tool, read);
    const isOfDefault = (input: string) => read.some(({ spec }) => spec.name === input);
    return problems.filter(({ input }) => isOfDefault(input)).map(ofDefault);
  } catch (error) {
    // An invalid schema is reported by the schema check.
    if (error instanceof AcorError) return [];
    throw error;
  }
}
