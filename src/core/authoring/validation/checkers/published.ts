import { readPrompts } from '../../../published/prompts.ts';
import { toolResources } from '../../../published/resources.ts';
import { effectsOf } from '../../../registry/tool-schema.ts';
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
  const wrong = toolResources(config).flatMap(({ tool }) => {
    const found = tools.find(({ name }) => name === tool);
    if (found !== undefined && effectsOf(found.manifest, { isConfined: true }).readsOnly) return [];
    const why = found === undefined ? 'does not exist' : 'may change something';
    const fix =
      found === undefined ? 'Name a tool of the project.' : 'Write `effects: reads` into its manifest.';
    return [{ tool, why, fix }];
  });
  if (wrong.length === 0) return [];
  const places = await placesIn(file);
  const listed = (places.value as { resources?: { tool?: string }[] } | undefined)?.resources ?? [];
  return wrong.map(({ tool, why, fix }) => {
    const at = listed.findIndex((each) => each.tool === tool);
    const place = places.placeOf(['resources', at, 'tool']);
    const message = `the tool '${tool}' of a resource ${why}`;
    return findingOf({ file, ...place, rule: 'resource-tool', message, fix });
  });
}
