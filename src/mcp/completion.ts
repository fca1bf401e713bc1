import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { projectPrompts, publishedResources } from '../operations/project/published.ts';
import { offeredTools } from '../operations/tool/offered-tools.ts';
import type { OpenHost } from './host.ts';

/** The maximum that the protocol allows. */
const MAX_VALUES = 100;

/**
 * Completes an argument of a prompt or a variable of a resource address: topics of the explanation, values that a
 * prompt or the input of a tool lists, ids of runs.
 */
export async function complete(
  open: OpenHost,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  if (ref.type === 'ref/resource' && ref.uri.startsWith('acor://runs/') && argument.name === 'run')
    return completeRun(open, argument.value);
  const known =
    ref.type === 'ref/prompt'
      ? await valuesOfPrompt(open, ref.name, argument.name)
      : await valuesOfResource(open, ref.uri, argument.name);
  const fitting = known.filter((each) => each.startsWith(argument.value));
  const values = fitting.slice(0, MAX_VALUES);
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
}

async function completeRun(open: OpenHost, prefix: string): Promise<CompleteResult> {
  await open.app.authorize({ name: 'run.list', effect: 'reads' }, {});
  const index = await (await open.app.project()).index();
  const { runs, total } = await index.query({ prefix, limit: MAX_VALUES });
  const values = runs.map(({ run_id }) => run_id);
  return { completion: { values, total, hasMore: total > values.length } };
}

async function valuesOfPrompt(open: OpenHost, prompt: string, argument: string): Promise<string[]> {
  if (prompt === 'explain' && argument === 'topic') return topics(open);
  const found = (await projectPrompts(open.app)).find(({ name }) => name === prompt);
  return found?.arguments.find(({ name }) => name === argument)?.values ?? [];
}

async function topics(open: OpenHost): Promise<string[]> {
  const answer = await open.call('system.explain', {}, { signal: new AbortController().signal });
  return answer.ok ? (answer.data as { topics: { name: string }[] }).topics.map(({ name }) => name) : [];
}

async function valuesOfResource(open: OpenHost, uri: string, variable: string): Promise<string[]> {
  const resource = (await publishedResources(open.app)).tools.find(({ uriTemplate }) => uriTemplate === uri);
  if (resource === undefined) return [];
  const tool = (await offeredTools(open.app)).find(({ name }) => name === resource.tool);
  const { properties } = tool?.inputSchema ?? {};
  const input = (properties as Record<string, { enum?: unknown }> | undefined)?.[variable];
  return Array.isArray(input?.enum) ? input.enum.map(String) : [];
}
