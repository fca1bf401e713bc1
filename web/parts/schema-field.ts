import { html } from 'htm/preact';
import { plain } from './plain-text.ts';

/** The part of JSON Schema that forms know; everything else is a text of JSON. */
export interface Schema {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  enum?: unknown;
  properties?: unknown;
  required?: unknown;
  /** An input that a tool declares as secret. */
  writeOnly?: unknown;
}

interface FieldProps {
  name: string;
  label: string;
  schema: Schema;
  isRequired: boolean;
  value: unknown;
  /** With undefined when the field is empty. */
  onChange: (value: unknown) => void;
}

/** A field of a form for a value that fits a JSON Schema. */
export function SchemaField(props: FieldProps) {
  const { name, label, schema, isRequired, value, onChange } = props;
  const { type, description } = schema;
  if (type === 'object' && isRecord(schema.properties)) return html`<${ObjectField} ...${props} />`;
  const help = typeof description === 'string' ? plain(description) : '';
  const id = `field-${name}`;
  const common = {
    id,
    name,
    required: isRequired,
    'aria-describedby': help === '' ? undefined : `${id}-help`,
  };
  const choices = type === 'boolean' ? [true, false] : Array.isArray(schema.enum) ? schema.enum : undefined;
  return html`<div class="field">
    <label for=${id}>${label}${isRequired && html` <span class="note">(required)</span>`}</label>
    ${
      choices !== undefined
        ? html`<select ...${common} onChange=${(event: Event) => {
            const { value: at } = event.target as HTMLSelectElement;
            onChange(at === '' ? undefined : choices[Number(at)]);
          }}>
          <option value="">…</option>
          ${choices.map((choice, at) => html`<option key=${at} value=${at} selected=${choice === value}>${plain(String(choice))}</option>`)}
        </select>`
        : html`<${TextField} common=${common} schema=${schema} value=${value} onChange=${onChange} />`
    }
    ${help !== '' && html`<p id=${`${id}-help`} class="note">${help}</p>`}
  </div>`;
}

function TextField({
  common,
  schema: { type, writeOnly },
  value,
  onChange,
}: {
  common: Record<string, unknown>;
  schema: Schema;
  value: unknown;
  onChange: FieldProps['onChange'];
}) {
  const onInput = (event: Event) => {
    const input = event.target as HTMLInputElement;
    const { read, problem } = readText(input.value, type);
    input.setCustomValidity(problem);
    onChange(read);
  };
  if (type === 'string')
    return html`<input ...${common} type=${writeOnly === true ? 'password' : 'text'} autocomplete="off" value=${value ?? ''} onInput=${onInput} />`;
  if (type === 'number' || type === 'integer')
    return html`<input ...${common} type="number" step=${type === 'integer' ? 1 : 'any'} value=${value ?? ''} onInput=${onInput} />`;
  return html`<textarea ...${common} rows="4" spellcheck=${false} onInput=${onInput}>${value === undefined ? '' : JSON.stringify(value)}</textarea>`;
}

function ObjectField({ name, label, schema, value, onChange }: FieldProps) {
  const properties = schema.properties as Record<string, Schema>;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const values = isRecord(value) ? value : {};
  return html`<fieldset>
    <legend>${label}</legend>
    ${Object.entries(properties).map(
      ([key, field]) => html`<${SchemaField}
        key=${key}
        name=${`${name}.${key}`}
        label=${plain(key)}
        schema=${isRecord(field) ? field : {}}
        isRequired=${required.includes(key)}
        value=${values[key]}
        onChange=${(one: unknown) => onChange(withField(values, key, one))}
      />`,
    )}
  </fieldset>`;
}

function withField(values: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const { [key]: _, ...others } = values;
  return value === undefined ? others : { ...others, [key]: value };
}

/** A text as a value of the type; JSON for a type that has no field of its own. */
function readText(text: string, type: unknown): { read: unknown; problem: string } {
  if (text === '') return { read: undefined, problem: '' };
  if (type === 'string') return { read: text, problem: '' };
  if (type === 'number' || type === 'integer') return { read: Number(text), problem: '' };
  try {
    return { read: JSON.parse(text), problem: '' };
  } catch {
    return { read: undefined, problem: 'This must be JSON.' };
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
