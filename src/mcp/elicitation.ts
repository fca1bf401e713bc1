import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { boundedSchema, boundedText } from './bounded-text.ts';

/** A question of a run, as operations return it. */
export interface OpenQuestion {
  /** The tool whose run asks. */
  tool: string;
  action_id: string;
  action: string;
  audience: 'ai' | 'user' | 'model' | 'client';
  blocking: boolean;
  msg: string | null;
  context: Record<string, unknown>;
  options: readonly Record<string, unknown>[] | null;
  schema: Record<string, unknown> | null;
}

const MAX_MESSAGE_CHARS = 1000;
const MAX_CONTEXT_CHARS = 500;
const PRIMITIVES = ['string', 'number', 'integer', 'boolean'];
/** The formats that forms have; clients reject a form with another one. */
const FORMATS = ['email', 'uri', 'date', 'date-time'];

type FormSchema = ElicitRequestFormParams['requestedSchema'];

/**
 * A question as a form. Forms are flat, so an answer that is not an object of plain values becomes their only field.
 */
export function formOf(question: OpenQuestion, problem?: string): ElicitRequestFormParams {
  const { tool, action, action_id: id, msg, context } = question;
  // The runner's own question: the runner replaces an id of a tool that begins so.
  const asker = id.startsWith('acor-') ? 'ACOR' : tool;
  const about =
    Object.keys(context).length === 0 ? '' : ` (${JSON.stringify(context).slice(0, MAX_CONTEXT_CHARS)})`;
  const message = boundedText(
    `${problem === undefined ? '' : `${problem} `}${asker} asks: ${msg ?? action}${about}`,
    MAX_MESSAGE_CHARS,
  );
  return { message, requestedSchema: boundedSchema(schemaOf(question)) as FormSchema };
}

/** The answer in a filled form. A field for JSON with invalid JSON is passed as text, and rejected as such. */
export function answerOf(question: OpenQuestion, content: Readonly<Record<string, unknown>>): unknown {
  if (isFlat(question)) return content;
  const { answer } = content;
  if (!asksForJson(question) || typeof answer !== 'string') return answer;
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}

function schemaOf(question: OpenQuestion): unknown {
  const { options, schema } = question;
  if (isFlat(question)) {
    const fields = Object.entries(schema?.properties as object).map(([name, field]) => [
      name,
      fieldOf(field),
    ]);
    return { type: 'object', properties: Object.fromEntries(fields), ...required(schema) };
  }
  const one = (field: unknown) => ({ type: 'object', properties: { answer: field }, required: ['answer'] });
  if (options !== null && options.length > 0) {
    const ids = options.map(({ id }) => String(id));
    return one({ type: 'string', enum: ids, enumNames: options.map(nameOf) });
  }
  if (schema === null) return one({ type: 'string' });
  if (isPrimitive(schema)) return one(fieldOf(schema));
  return one({ type: 'string', description: `JSON that fits: ${JSON.stringify(schema)}` });
}

/** The field without what a client rejects: another format is named in the description, a default of another type omitted. */
function fieldOf(field: Readonly<Record<string, unknown>>): unknown {
  const { format, default: preset, ...kept } = field;
  const isOffered = FORMATS.includes(String(format));
  const texts = [field['description'], ...(format === undefined || isOffered ? [] : [`Format: ${format}.`])];
  const description = texts.filter((text) => text !== undefined).join(' ');
  return {
    ...kept,
    ...(description !== '' && { description }),
    ...(isOffered && { format }),
    ...(fitsType(preset, field) && { default: preset }),
  };
}

/** Whether the value has the type of the field; the tool's author may have written any. */
function fitsType(value: unknown, { type }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'array') return Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** Whether the answer is a text: the id of an option, a string, or whatever the asker takes. */
export function asksForText({ options, schema }: OpenQuestion): boolean {
  return (options !== null && options.length > 0) || schema === null || schema.type === 'string';
}

function nameOf({ id, label, description }: Readonly<Record<string, unknown>>): string {
  const name = typeof label === 'string' ? label : String(id);
  return typeof description === 'string' ? `${name}: ${description}` : name;
}

function asksForJson({ options, schema }: OpenQuestion): boolean {
  return (options === null || options.length === 0) && schema !== null && !isPrimitive(schema);
}

/** Whether the answer is an object of plain values, which a form can represent. */
function isFlat({ options, schema }: OpenQuestion): boolean {
  if ((options !== null && options.length > 0) || schema?.type !== 'object') return false;
  const { properties } = schema;
  if (typeof properties !== 'object' || properties === null) return false;
  const fields = Object.values(properties);
  return fields.length > 0 && fields.every((field) => isPrimitive(field) || isChoices(field));
}

function isPrimitive(schema: unknown): boolean {
  const type = (schema as { type?: unknown } | null)?.type;
  return typeof type === 'string' && PRIMITIVES.includes(type);
}

/** Several of a list of texts. */
function isChoices(schema: unknown): boolean {
  const { type, items } = (schema ?? {}) as { type?: unknown; items?: { enum?: unknown; anyOf?: unknown } };
  return type === 'array' && (Array.isArray(items?.enum) || Array.isArray(items?.anyOf));
}

function required(schema: OpenQuestion['schema']): { required?: string[] } {
  return Array.isArray(schema?.required) ? { required: schema.required.map(String) } : {};
}
