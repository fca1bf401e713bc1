import { relative } from 'node:path';
import type { FindingData } from './shapes.ts';

/** A finding as a workflow command of GitHub, which marks the line in the changes of a pull request. Paths are relative to `root`. */
export function annotation(
  { file, line, col, severity, rule, message, fix }: FindingData,
  root: string,
): string {
  const place = [
    `file=${property(relative(root, file))}`,
    ...(line > 0 ? [`line=${line}`, `col=${col}`] : []),
    `title=${property(rule)}`,
  ];
  return `::${severity} ${place.join(',')}::${data(`${message}. ${fix}`)}`;
}

/** The escapes of GitHub: a line break would begin another command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
