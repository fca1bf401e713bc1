import type { Manifest } from '../../../../protocol/manifest.ts';
import { readPrompts } from '../../../published/prompts.ts';
import { toolResources } from '../../../published/resources.ts';
import { unlistedInputOf } from '../../../registry/input-schema.ts';
import { effectsOf, inputSchemaOf } from '../../../registry/tool-schema.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, placesIn } from '../finding.ts';
import type { Subject } from '../subject.ts';

/** Checks the prompts of the project, and the tools of its resources. */
export const published: Checker = {
  name: 'published',
  async check(subject) {
    const { promptFiles, config } = subject;
    const { problems } = promptFiles.length > 0 ? await readPrompts(config) : { problems: [] };
    const ofPrompts = problems.filter(({ file }) => promptFiles.includes(file)).map(findingOf);
    return [...ofPrompts, ...(await checkTools(subject))];
  },
};

async function checkTools({ config, configFiles, whole, tools }: Subject): Promise<Finding[]> {
  const { file } = config;
  if (!whole || file === null || !configFiles.includes(file)) return [];
  const wrong = toolResources(config).flatMap((resource) => {
    const found = tools.find(({ name }) => name === resource.tool);
    if (found === undefined)
      return { ...resource, ...OF_TOOL, why: 'does not exist', fix: 'Name a tool of the project.' };
    if (!effectsOf(found.manifest, { isConfined: true }).readsOnly) {
      const fix = 'Write `effects: reads` into its manifest.';
      return { ...resource, ...OF_TOOL, why: 'may change something', fix };
    }
    const problem = problemOfInputs(resource.variables, found.manifest);
    return problem === undefined ? [] : { ...resource, ...OF_ADDRESS, ...problem };
  });
  if (wrong.length === 0) return [];
  const places = await placesIn(file);
  const listed = (places.value as { resources?: { uri?: string }[] } | undefined)?.resources ?? [];
  return wrong.map(({ uriTemplate, tool, key, rule, why, fix }) => {
    const at = listed.findIndex((each) => each.uri === uriTemplate);
    const place = places.placeOf(['resources', at, key]);
    const message = `the tool '${tool}' of a resource ${why}`;
    return findingOf({ file, ...place, rule, message, fix });
  });
}

const OF_TOOL = { key: 'tool', rule: 'resource-tool' } as const;
const OF_ADDRESS = { key: 'uri', rule: 'resource-input' } as const;

/** The variables of an address are all that the tool gets. */
function problemOfInputs(
  variables: readonly string[],
  manifest: Manifest,
): { why: string; fix: string } | undefined {
  const { properties = {}, required = [], additionalProperties = true } = inputSchemaOf(manifest);
  const unlisted = unlistedInputOf(manifest);
  const unknown = variables.find((name) => !Object.hasOwn(properties, name) && !unlisted?.(name));
  if (unknown !== undefined && additionalProperties === false) {
    const names = Object.keys(properties).map((name) => `{${name}}`);
    return { why: `has no input '${unknown}'`, fix: `Name its inputs: ${names.join(', ')}.` };
  }
  const lacking = required.find((name) => !variables.includes(name));
  return lacking === undefined
    ? undefined
    : { why: `requires the input '${lacking}'`, fix: `Add {${lacking}} to the address.` };
}
