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
 * Plans a new tool, and the schema that its manifest names. Throws E_USAGE for an invalid name, or when one of the
 * files exists.
 */
export function planTool(tool: NewTool, tools: readonly ToolEntry[]): PlannedFile[] {
  checkName(tool);
  const rival = tools.find(({ name }) => name === tool.name);
  const planned = toolFiles(tool);
  const taken = planned.find(({ action }) => action !== 'create');
  // A folder without files of the tool is filled; a plain file of its name is an error.
  const inTheWay = typeof textAt(tool.folder) === 'string' ? tool.folder : undefined;
  const there = rival?.entry ?? rival?.manifestPath ?? taken?.path ?? inTheWay;
  if (there !== undefined) {
    throw new AcorError('E_USAGE', `the tool '${tool.name}' already exists: ${there}`, {
      hint: 'Choose another name.',
      details: { file: there },
      next: [createTool(tool.template, `${tool.name}_2`)],
    });
  }
  return [...planned, ...missingSchema(tool)];
}

/** Compares the planned files of a tool with the existing ones. A file that differs belongs to the author and stays. */
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
    return { path: target, action: 'keep', why: 'it was edited' };
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
      ? 'has another meaning in a tools folder'
      : undefined;
  if (why === undefined) return;
  throw new AcorError('E_USAGE', `the name '${name}' ${why}`, {
    hint: 'Choose a different name, such as: my_tool',
    next: [createTool(template, 'my_tool')],
  });
}
