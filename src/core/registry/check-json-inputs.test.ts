import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AcorError } from '../../protocol/acor-error.ts';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import { checkJsonInputs } from './check-json-inputs.ts';
import type { ToolEntry } from './tool-entry.ts';

const INPUT_SCHEMA = {
  type: 'object',
  $defs: { point: { type: 'object', required: ['x'], properties: { x: { type: 'number' } } } },
  properties: {
    at: { $ref: '#/$defs/point' },
    names: { type: 'array', items: { type: 'string' }, maxItems: 2 },
  },
};

describe('the structured values of a tool with a schema', () => {
  it('may be as the schema says, or left out', async () => {
    await checkJsonInputs(tool(INPUT_SCHEMA), { at: { x: 1 }, names: ['a'] });
    await checkJsonInputs(tool(INPUT_SCHEMA), {});
    await checkJsonInputs(tool(undefined), { at: {} });
  });

  it('are refused with every mistake', async () => {
    await assert.rejects(
      checkJsonInputs(tool(INPUT_SCHEMA), { at: { x: 'far' }, names: ['a', 'b', 'c'] }),
      (error) =>
        error instanceof AcorError &&
        error.code === 'E_SCHEMA_MISMATCH' &&
        (error.details!['problems'] as unknown[]).length === 2,
    );
  });

  it('are not reported when the schema itself is invalid', async () => {
    await assert.rejects(
      checkJsonInputs(tool({ properties: { at: { type: 'nonsense' } } }), { at: {} }),
      (error) => error instanceof AcorError && error.code === 'E_MANIFEST_INVALID',
    );
  });
});

function tool(input_schema: Record<string, unknown> | undefined): ToolEntry {
  const manifest = { ...defaultManifest('t'), input_schema };
  return {
    name: 't',
    dir: '/',
    entry: null,
    command: ['true'],
    language: 'executable',
    adapter: 'jsonl',
    manifest,
    manifestPath: null,
    problems: [],
  };
}
