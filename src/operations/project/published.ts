import { pathToFileURL } from 'node:url';
import type { ProjectPrompt } from '../../core/published/prompts.ts';
import type { FileContent } from '../../core/published/read-file.ts';
import type { FoundResource, PublishedFile, ToolResource } from '../../core/published/resources.ts';
import type { AcorApp } from '../acor-app.ts';

export type { FileContent, FoundResource, ProjectPrompt, PublishedFile, ToolResource };

/** A file in a prompt is part of a model's context. */
const MAX_EMBEDDED_BYTES = 1 << 20;

/** The prompts of the project, by name; invalid ones are left out, and `acor validate` reports them. */
export async function projectPrompts(app: AcorApp): Promise<ProjectPrompt[]> {
  await app.authorize({ name: 'prompt.list', effect: 'reads' }, {});
  const { readPrompts } = await import('../../core/published/prompts.ts');
  return (await readPrompts((await app.project()).config)).prompts;
}

/** A file that a prompt embeds, with its address. */
export async function embeddedFile(app: AcorApp, path: string): Promise<FileContent & { uri: string }> {
  await app.authorize({ name: 'prompt.read', effect: 'reads' }, { path });
  const { readEmbedded } = await import('../../core/published/prompts.ts');
  const { config } = await app.project();
  const content = readEmbedded(config, path, MAX_EMBEDDED_BYTES);
  return { ...content, uri: pathToFileURL(path).href };
}

/** The files that the project publishes, and the resources that its tools make. */
export async function publishedResources(
  app: AcorApp,
): Promise<{ files: PublishedFile[]; tools: ToolResource[] }> {
  await app.authorize({ name: 'resource.list', effect: 'reads' }, {});
  const { config } = await app.project();
  if (config.config.resources.length === 0) return { files: [], tools: [] };
  const { publishedFiles, toolResources } = await import('../../core/published/resources.ts');
  return { files: publishedFiles(config), tools: toolResources(config) };
}

/** What an address of the project leads to; undefined for an unknown one. Throws E_INPUT_NOT_FOUND and E_USAGE. */
export async function publishedResource(app: AcorApp, uri: string): Promise<FoundResource | undefined> {
  await app.authorize({ name: 'resource.read', effect: 'reads' }, { uri });
  const { config } = await app.project();
  if (config.config.resources.length === 0) return undefined;
  const { findResource } = await import('../../core/published/resources.ts');
  return findResource(config, uri);
}
