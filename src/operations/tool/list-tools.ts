import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { findProject } from '../../core/config/find.ts';
import { notHere, toolsOutside } from '../../core/registry/registry.ts';
import { createTool, describeTool, INIT, LIST_TOOLS, type NextStep } from '../../protocol/next-steps.ts';
import { FilePattern } from '../../util/file-pattern.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { AcorApp } from '../acor-app.ts';
import { commandOf } from '../command-forms.ts';
import { plainCommand } from '../define.ts';
import { reportPlugins } from '../project/report-plugins.ts';
import { usability } from './usability.ts';

/** A tool in a list. */
export interface ToolLine {
  name: string;
  status: 'ok' | 'broken';
  version: string;
  language: string;
  adapter: string;
  category: string | null;
  description: string;
  level: 'minimal' | 'standard' | 'privileged';
  has_manifest: boolean;
  path: string;
  problems: string[];
  notes?: string[];
}

export async function listTools(
  input: { filter?: string | undefined },
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<{ tools: ToolLine[] }>> {
  const project = await ctx.app.tools();
  const { registry } = project;
  const fits = filterOf(input.filter?.toLowerCase());
  const problemsOf = await usability(project, ctx.env);
  const all = await Promise.all(
    (await registry.list()).map(async (tool) => ({ tool, problems: await problemsOf(tool) })),
  );
  const tools = all
    .map(({ tool, problems }) => ({
      name: tool.name,
      status: problems.length === 0 ? ('ok' as const) : ('broken' as const),
      version: tool.manifest.version,
      language: tool.language,
      adapter: tool.adapter,
      category: tool.manifest.category ?? null,
      description: tool.manifest.description ?? '',
      level: tool.manifest.permissions.level,
      has_manifest: tool.manifestPath !== null || tool.hasHeader === true,
      path: tool.entry ?? tool.dir,
      problems,
      ...(tool.notes !== undefined && { notes: tool.notes }),
    }))
    .filter(fits);
  const broken = tools.filter(({ status }) => status === 'broken');
  const above = all.length === 0 ? toolsOutside(project.config) : undefined;
  const isNowhere = all.length === 0 && above === undefined && !findProject(ctx.cwd).isProject;
  return {
    kind: 'data',
    data: { tools },
    ...(above !== undefined && { warnings: [notHere(above)] }),
    ...(isNowhere && {
      warnings: [
        `there is no project here: neither ${project.config.root} nor a folder above it has a folder .acor, and ${project.config.root} has no tools`,
      ],
    }),
    next: [
      ...(above !== undefined ? [listThere(above)] : []),
      ...(all.length === 0 && above === undefined ? [INIT, createTool('python', 'my_tool')] : []),
      ...broken.slice(0, 3).map(({ name }) => describeTool(name)),
      ...reportPlugins(project, ctx),
    ],
  };
}

export const plainToolList = plainCommand('tool.list', listTools);

function listThere(folder: string): NextStep {
  return {
    command: `${shellCommand(['cd', folder])} && ${commandOf(LIST_TOOLS)}`,
    why: 'List the tools of that folder.',
  };
}

/** A text is searched everywhere; a pattern matches a whole name or category. */
function filterOf(filter: string | undefined): (tool: ToolLine) => boolean {
  if (filter === undefined) return () => true;
  const pattern = /[*?]/.test(filter) ? FilePattern.ofPaths(filter) : undefined;
  return ({ name, category, description }) => {
    const texts = [name, category ?? '', ...(pattern === undefined ? [description] : [])].map((text) =>
      text.toLowerCase(),
    );
    return texts.some((text) => (pattern === undefined ? text.includes(filter) : pattern.test(text)));
  };
}
