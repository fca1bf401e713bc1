import type * as z from 'zod';
import { manifestFile } from '../../../protocol/manifest.ts';
import { inputSpec } from '../../../protocol/manifest-inputs.ts';
import type { Facts } from './facts.ts';
import { type Section, section } from './section.ts';

const EXAMPLE = `name: line_count
version: 1.0.0
description: Count the lines of files.
adapter: plain
command: [wc, -l]
inputs:
  - { name: files, type: path, positional: true, multiple: true, required: true }
effects: reads
idempotent: true`;

/** The keys of a manifest, from its schema. */
export function manifestSections({ withExamples }: Facts): Section[] {
  return [
    section('Manifest', [
      'The file `tool.yaml` beside a tool describes it. It is optional: without it, the tool has the level minimal and takes any arguments.',
      'An unknown key is an error with file, line and the nearest known key: see `acor list`, `acor describe <tool> --manifest`.',
    ]),
    section('Keys', keysOf(manifestFile.shape)),
    section('Keys of an input', keysOf(inputSpec.shape)),
    ...(withExamples ? [section('Example', ['```yaml', EXAMPLE, '```'])] : []),
  ];
}

function keysOf(shape: Readonly<Record<string, z.ZodType>>): string[] {
  return Object.entries(shape).map(([name, field]) => {
    const choices = choicesOf(field);
    const notes = [
      ...(choices === undefined ? [] : [choices.join(' | ')]),
      ...(field.description ? [field.description] : []),
    ];
    return `- ${name}${notes.length === 0 ? '' : `: ${notes.join('. ')}`}`;
  });
}

function choicesOf(field: z.ZodType): string[] | undefined {
  const def = field._zod.def as { type: string; innerType?: z.ZodType; entries?: Record<string, string> };
  if (def.type === 'enum' && def.entries !== undefined) return Object.values(def.entries);
  return def.innerType === undefined ? undefined : choicesOf(def.innerType);
}
