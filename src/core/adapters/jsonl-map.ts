import type { MapRule, MapTarget } from '../../protocol/manifest-map.ts';
import { parseMapPath, valueAt } from '../../protocol/map-path.ts';
import type { FileChange } from '../../protocol/markers/marker.ts';
import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import { FileClaims } from './file-claims.ts';
import { objectIn, readJsonObject, textOf } from './json-object.ts';

export const JSONL_MAP: AdapterKind = { make: (context) => new JsonlMapAdapter(context) };

const CHANGES: readonly FileChange[] = ['created', 'modified', 'deleted'];

export type Message = Record<string, unknown>;
/** The value of a rule's field for a message; undefined is omitted. */
type Value = (message: Message) => unknown;
export type Rule = { isFor: (message: Message) => boolean; to: MapTarget; fields: Value };

/** Maps another program's JSONL by the rules of the manifest (contract §1): the first matching rule applies. */
class JsonlMapAdapter implements Adapter {
  readonly #context: AdapterContext;
  readonly #claims: FileClaims;
  readonly #rules: readonly Rule[];

  constructor(context: AdapterContext) {
    this.#context = context;
    this.#claims = new FileClaims(context);
    this.#rules = (context.plan.tool.manifest.map ?? []).map(compiledRule);
  }

  get files() {
    return this.#claims.measured;
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    const { intake, plan } = this.#context;
    if (plan.tool.manifest.from === 'stderr')
      intake.plainLine(Buffer.from(bytes.subarray(start, end)).toString('utf8'));
    else this.#take(readJsonObject(intake, bytes, start, end, cut));
  }

  errorLine(bytes: Uint8Array, start: number, end: number): boolean {
    const { from } = this.#context.plan.tool.manifest;
    if (from !== 'stderr' && from !== 'both') return false;
    const message = objectIn(bytes, start, end);
    this.#take(message);
    return message !== undefined;
  }

  #take(message: Message | undefined): void {
    const { intake } = this.#context;
    if (message === undefined) return;
    const rule = this.#rules.find(({ isFor }) => isFor(message));
    if (rule === undefined) {
      intake.accept({ type: 'log', level: 'debug', msg: 'no rule of map is for this', event: message });
      return;
    }
    const fields = rule.fields(message) as Message;
    if (rule.to === 'artifact') this.#claim(fields);
    else intake.accept({ ...EVENT_DEFAULTS[rule.to], ...fields, type: rule.to });
  }

  settle(): Promise<void> {
    return this.#claims.settle();
  }

  end(): void {}

  #claim({ path, change }: Message): void {
    if (textOf(path) !== undefined)
      this.#claims.add(path as string, CHANGES.find((each) => each === change) ?? null);
    else
      this.#context.intake.warnOnce(
        'map:artifact',
        'E_PROTOCOL',
        "a rule of map to artifact found no text for 'path'; the message was ignored",
      );
  }
}

/** The fields of an event that a rule does not set. */
export const EVENT_DEFAULTS: Readonly<Partial<Record<MapTarget, Message>>> = {
  log: { level: 'info' },
  result: { status: 'ok' },
  error: { code: 'E_TOOL_FAILED' },
};

export function compiledRule({ when, to, fields }: Pick<MapRule, 'when' | 'to' | 'fields'>): Rule {
  const tests = Object.entries(when).map(([name, wanted]) => {
    const read = name.startsWith('$') ? compiledValue(name) : ownField(name);
    return (message: Message) => read(message) === wanted;
  });
  return {
    isFor: (message) => tests.every((test) => test(message)),
    to,
    fields: compiledValue(fields),
  };
}

function ownField(name: string): Value {
  return (message) => (Object.hasOwn(message, name) ? message[name] : undefined);
}

function compiledValue(value: unknown): Value {
  if (typeof value === 'string' && value.startsWith('$')) {
    const path = parseMapPath(value);
    return (message) => (path === undefined ? undefined : valueAt(message, path));
  }
  if (Array.isArray(value)) {
    const parts = value.map(compiledValue);
    return (message) => parts.map((part) => part(message)).filter((each) => each !== undefined);
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const parts = Object.entries(value).map(([name, part]) => [name, compiledValue(part)] as const);
  return (message) =>
    Object.fromEntries(
      parts.map(([name, part]) => [name, part(message)]).filter(([, each]) => each !== undefined),
    );
}
