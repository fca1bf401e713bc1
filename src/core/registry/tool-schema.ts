import { AcorError } from '../../protocol/acor-error.ts';
import type { InputSpec, Manifest } from '../../protocol/manifest.ts';
import { execProgram } from '../../protocol/names.ts';
import { describeTool } from '../../protocol/next-steps.ts';
import { inputsOf, isSilentlyClosed, unlistedTypes } from './input-schema.ts';
import { jsonWords } from './json-words.ts';

/** A JSON Schema of an object. */
export interface ObjectSchema {
  type: 'object';
  properties?: Record<string, unknown>;
  required?: string[];
  [key: string]: unknown;
}

/** The inputs of a tool as a JSON Schema (draft 2020-12), however its manifest declares them. */
export function inputSchemaOf(manifest: Manifest): ObjectSchema {
  const { input_schema: own } = manifest;
  // ACOR refuses a name that the schema does not list, so the schema says so to its reader.
  if (own !== undefined)
    return { ...own, ...(isSilentlyClosed(own) && { additionalProperties: false }), type: 'object' };
  if (manifest.inputs === undefined) return ANY_ARGUMENTS;
  const required = manifest.inputs.filter((spec) => spec.required && spec.default === undefined);
  return {
    type: 'object',
    properties: Object.fromEntries(manifest.inputs.map((spec) => [spec.name, schemaOf(spec)])),
    ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    additionalProperties: false,
  };
}

/**
 * Converts inputs from an object to the command line of `acor run <tool>`. Throws E_USAGE when they cannot be
 * expressed.
 */
export function wordsFor(manifest: Manifest, given: Readonly<Record<string, unknown>>): string[] {
  if (manifest.inputs !== undefined || manifest.input_schema !== undefined) return jsonWords(given);
  const { args = [], ...unknown } = given;
  const areWords = Array.isArray(args) && args.every((each) => typeof each === 'string');
  if (areWords && Object.keys(unknown).length === 0) return ['--', ...args];
  throw new AcorError(
    'E_USAGE',
    `${manifest.name} declares no inputs, so it only accepts args, a list of texts`,
    {
      hint: 'Pass {"args":["…"]}: the words of its command line.',
      next: [describeTool(manifest.name)],
    },
  );
}

/** The arguments of an earlier call for the same call on each surface, where words may also be options of ACOR. */
export function wordsAgain(
  { name, manifest }: { name: string; manifest: Manifest },
  args: readonly string[],
): readonly string[] {
  const areWords = manifest.inputs === undefined && manifest.input_schema === undefined;
  const isProgram = execProgram(name) !== undefined;
  return areWords && !isProgram && args.length > 0 ? ['--', ...args] : args;
}

const ANY_ARGUMENTS: ObjectSchema = {
  type: 'object',
  properties: {
    args: {
      type: 'array',
      items: { type: 'string' },
      description:
        'The arguments of the command line. The tool declares no inputs, so ACOR passes them unchanged.',
    },
  },
  additionalProperties: false,
};

function schemaOf(spec: InputSpec): Record<string, unknown> {
  const { multiple, secret, description } = spec;
  const one = { ...typeOf(spec), ...(spec.enum && { enum: spec.enum }) };
  return {
    ...(multiple ? { type: 'array', items: one } : one),
    ...(description !== undefined && { description }),
    ...(spec.default !== undefined && !secret && { default: spec.default }),
    ...(secret && { writeOnly: true }),
  };
}

function typeOf({ type, min, max, pattern }: InputSpec): Record<string, unknown> {
  const text = {
    type: 'string',
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
    ...(pattern !== undefined && { pattern }),
  };
  const bounds = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
  switch (type) {
    case 'string':
    case 'path':
      return text;
    case 'url':
      return { ...text, format: 'uri' };
    case 'int':
      return { type: 'integer', ...bounds };
    case 'number':
      return { type: 'number', ...bounds };
    case 'bool':
      return { type: 'boolean' };
    case 'duration':
      return { type: 'string', ...(pattern !== undefined && { pattern }) };
    case 'json':
      return {};
  }
}

/** What a call of a tool may change outside of its workspace. */
export interface ToolEffects {
  /** It changes nothing. */
  readsOnly: boolean;
  /** It may delete or overwrite existing data. */
  mayDestroy: boolean;
  /** A repeated call with the same inputs changes nothing further. */
  idempotent: boolean;
  /** It may access the network. */
  reachesOut: boolean;
}

/**
 * Derives the effects of a tool from its permissions and inputs, and from its declared `effects` when the two agree.
 * Without a sandbox nothing enforces the permissions, so only the declaration counts.
 */
export function effectsOf(manifest: Manifest, { isConfined }: { isConfined: boolean }): ToolEffects {
  const { permissions, effects, idempotent } = manifest;
  const paths = (inputsOf(manifest) ?? []).filter(({ type }) => type === 'path');
  const isFree = !isConfined || permissions.level === 'privileged';
  const asksToWrite =
    permissions.filesystem.write.some(isOutsideWorkspace) || paths.some(({ access }) => access === 'write');
  // A path without `access` that does not exist yet is an output (contract §5).
  const mayCreate =
    paths.some(({ access }) => access === undefined) || unlistedTypes(manifest).includes('path');
  const reachesOut = isFree || permissions.network.egress_allow.length > 0;
  const mayChange = isFree || asksToWrite || reachesOut;
  const readsOnly = effects === undefined ? !mayChange && !mayCreate : effects === 'reads' && !asksToWrite;
  const mayDestroy = !readsOnly && (effects === undefined ? mayChange : effects !== 'writes');
  return { readsOnly, mayDestroy, idempotent, reachesOut };
}

function isOutsideWorkspace(path: string): boolean {
  return !/^(?:\$\{WORKSPACE\}|\$WORKSPACE|\.)(?:\/|$)/.test(path);
}
