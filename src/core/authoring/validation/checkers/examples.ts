import { AcorError } from '../../../../protocol/acor-error.ts';
import { problemsBySchema } from '../../../registry/check-by-schema.ts';
import { readToolInputs } from '../../../registry/read-inputs.ts';
import type { ToolEntry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, manifestOf } from '../finding.ts';

/** Checks that the examples of a manifest are valid calls. Their paths need not exist. */
export const examples: Checker = {
  name: 'examples',
  async check({ tools, cwd }) {
    return (await Promise.all(tools.map((tool) => checkTool(tool, cwd)))).flat();
  },
};

async function checkTool(tool: ToolEntry, cwd: string): Promise<Finding[]> {
  const { manifest } = tool;
  const source = manifest.examples.length === 0 ? undefined : await manifestOf(tool);
  if (source === undefined) return [];
  const { file, yaml } = source;
  const findings: Finding[] = [];
  for (const [index, { args }] of manifest.examples.entries()) {
    const mistakes = await mistakesOf(tool, args, cwd);
    for (const { message, fix } of mistakes) {
      findings.push(
        findingOf({
          file,
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
  args: readonly string[],
  cwd: string,
): Promise<{ message: string; fix: string }[]> {
  // The content of a file or of stdin is unknown here.
  const isElsewhere = args.some(
    (word, at) => /^--input-json(=|$)/.test(word) && /(^|=)[@-]/.test(args[at + 1] ?? word),
  );
  if (isElsewhere) return [];
  const given = readToolInputs(tool.manifest, args, { cwd });
  if (given === undefined) return [];
  if (given.problems.length > 0) return given.problems;
  try {
    return await problemsBySchema(tool, given.read);
  } catch (error) {
    // An invalid schema is reported by the schema check.
    if (error instanceof AcorError) return [];
    throw error;
  }
}
