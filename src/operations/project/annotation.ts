import { relative } from 'node:path';
import { sentence } from '../../util/sentence.ts';
import type { FindingData } from './shapes.ts';

/** A finding as a workflow command of GitHub, which marks the line in the changes of a pull request. Paths are relative to `root`. */
export function annotation(
  { file, line, col, severity, rule, message, fix }: FindingData,
  root: string,
): string {
  const place = { file: relative(root, file), ...(line > 0 && { line, col }) };
  return workflowCommand(severity, { ...place, title: rule }, `${sentence(message)} ${fix}`);
}

/** A command to the runner of a job in GitHub Actions. Its parts are escaped: a tool may have written them. */
export function workflowCommand(
  name: string,
  properties: Readonly<Record<string, string | number>>,
  text: string,
): string {
  const given = Object.entries(properties).map(([key, value]) => `${key}=${property(String(value))}`);
  return `::${name} ${given.join(',')}::${data(text)}`;
}

/** The escapes of GitHub: a line break would begin another command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
