import { AcorError } from '../../../../protocol/acor-error.ts';
import { checkJsonInputs } from '../../../registry/check-json-inputs.ts';
import { inputsOf } from '../../../registry/input-schema.ts';
import { givenValue, readInputs } from '../../../registry/read-inputs.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, placesIn } from '../finding.ts';

/** Checks that the examples of a manifest are valid calls. Their paths need not exist. */
export const examples: Checker = {
  name: 'examples',
  async check({ tools, cwd }) {
    return (await Promise.all(tools.map((tool) => checkTool(tool, cwd)))).flat();
  },
};

async function checkTool(tool: ToolEntry, cwd: string): Promise<Finding[]> {
  const { manifest, manifestPath } = tool;
  const specs = inputsOf(manifest);
  if (manifestPath === null || specs === undefined || manifest.examples.length === 0) return [];
  const yaml = await placesIn(manifestPath);
  const findings: Finding[] = [];
  for (const [index, { args }] of manifest.examples.entries()) {
    const mistakes = await mistakesOf(tool, specs, args, cwd);
    for (const { message, fix } of mistakes) {
      findings.push(
        findingOf({
          file: manifestPath,
          ...yaml.placeOf(['examples', index, 'args']),
          rule: 'example-args',
          message: `example ${index + 1} is invalid: ${message}`,
          fix,
        }),
      );
    }
  }
  return findings;
}

async function mistakesOf(
  tool: ToolEntry,
  specs: NonNullable<ReturnType<typeof inputsOf>>,
  args: readonly string[],
  cwd: string,
): Promise<{ message: string; fix: string }[]> {
  // The content of a file or of stdin is unknown here.
  const isElsewhere = args.some(
    (word, at) => /^--input-json(=|$)/.test(word) && /(^|=)[@-]/.test(args[at + 1] ?? word),
  );
  if (isElsewhere) return [];
  const { read, problems } = readInputs(specs, args, { cwd, takesExtra: tool.manifest.extra_args });
  if (problems.length > 0) return problems;
  const values = read.map((input) => [input.spec.name, givenValue(input)]);
  try {
    await checkJsonInputs(tool, Object.fromEntries(values));
    return [];
  } catch (error) {
    // An invalid schema is reported by the schema check.
    if (!(error instanceof AcorError) || error.code !== 'E_SCHEMA_MISMATCH') return [];
    return [{ message: error.message, fix: error.hint ?? 'Compare it with the schema.' }];
  }
}
