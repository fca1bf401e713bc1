import type { InputSpec } from '../../protocol/manifest.ts';

const OUTPUT = /(?:^|[-_])(?:out|dst|dest|destination|target|output)(?:[-_]?(?:file|dir|folder|path))?$/i;

/** Whether an input seems to be an output, but an existing file at its path would be read-only (contract §5). */
export function lacksAccess({ name, type, access }: Pick<InputSpec, 'name' | 'type' | 'access'>): boolean {
  return type === 'path' && access === undefined && OUTPUT.test(name);
}
