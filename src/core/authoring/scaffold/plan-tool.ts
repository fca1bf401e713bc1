import { join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../../protocol/names.ts';
import { createTool } from '../../../protocol/next-steps.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { isNoTool } from '../../registry/tools-folder.ts';
import { type PlannedFile, textAt } from './planned-file.ts';
import { hasSchema, planSchema, schemaReference } from './schema-files.ts';
import { type TemplateName, templateFiles } from './templates.ts';

export interface NewTool {
  /** The project's folder. */
  root: string;
  name: string;
  template: TemplateName;
  /** The tool's own folder, absolute. */
  folder: string;
}

/**
 * Plans a new tool, and the schema that its manifest names. Throws E_USAGE where the name will not do, or where a file of it is
 * there already.
 */
export function planTool(tool: NewTool, tools: readonly ToolEntry[]): PlannedFile[] {
  checkName(tool);
  const rival = tools.find(({ name }) => name === tool.name);
  const planned = toolFiles(tool);
  const taken = planned.find(({ action }) => action !== 'create');
  // A folder that holds nothing of a tool is filled; a file in its place is not.
  const inTheWay = typeof textAt(tool.folder) === 'string' ? tool.folder : undefined;
  const there = rival?.entry ?? rival?.manifestPath ?? taken?.path ?? inTheWay;
  if (there !== undefined) {
    throw new AcorError('E_USAGE', `there is a tool '${tool.name}' already: ${there}`, {
      hint: 'Choose another name.',
      details: { file: there },
      next: [createTool(tool.template, `${tool.name}_2`)],
    });
  }
  return [...planned, ...missingSchema(tool)];
}

/** The files of a tool against what is there. What is there and differs is its author's by now. */
export function toolFiles({ root, name, template, folder }: NewTool): PlannedFile[] {
  const words = {
    TOOL_NAME: name,
    TOOL_FOLDER: relative(root, folder) || '.',
    MANIFEST_SCHEMA: schemaReference(root, folder, 'manifest'),
  };
  return templateFiles(template, words).map(({ path, text, mode }) => {
    const target = join(folder, path);
    const found = textAt(target);
    if (found === undefined) return { path: target, action: 'create', text, mode };
    if (found === text) return { path: target, action: 'unchanged' };
    return { path: target, action: 'keep', why: 'it was changed since' };
  });
}

function missingSchema({ root, folder }: NewTool): PlannedFile[] {
  const isNamed = schemaReference(root, folder, 'manifest') !== null;
  return isNamed && !hasSchema(root, 'manifest') ? [planSchema(root, 'manifest')] : [];
}

function checkName({ name, template }: NewTool): void {
  const why = !TOOL_NAME.test(name)
    ? TOOL_NAME_RULE
    : isNoTool(name)
      ? 'stands for something else in a tools folder'
      : undefined;
  if (why === undefined) return;
  throw new AcorError('E_USAGE', `the name '${name}' ${why}`, {
    hint: 'Choose another one, such as: my_tool',
    next: [createTool(template, 'my_tool')],
  });
}
