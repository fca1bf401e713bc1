import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { TestProject } from '../support/project.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** So many requests for each method of each address. */
const INPUTS = 20;
/** What a client may do here besides reading: nothing that writes outside of the store. */
const ALLOWED = ['answer', 'cancel', 'run', 'resume', 'retry', 'replay', 'workflow run', 'runs rm', 'clean'];

const TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'NaN',
  'null',
  'true',
  'last',
  'quick',
  'r-0123456789abcdef',
  '../../etc/passwd',
  '/dev/null',
  '__proto__',
  'constructor',
  '\0',
  '\ud800',
  'ä€😀\u202e\u001b[31m',
  '%00%ff',
  '{"a":1}',
  '[]',
  '*',
  '--help',
  'a=b',
  'x'.repeat(5000),
];

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

interface Method {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Document {
  paths: Record<string, Record<string, Method>>;
  components: { schemas: Record<string, Schema> };
}

let project: TestProject;
let server: TestServer;
before(async () => {
  project = new TestProject({ tools: ['quick', 'asks'] });
  project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: quick }]\n');
  const flags = ALLOWED.flatMap((command) => ['--http-allow', command]);
  server = await TestServer.start(project, flags);
  await server.call('run.start', { tool: 'quick' });
  await server.call('run.start', { tool: 'asks', detach: true });
});
after(async () => {
  await project.acor(['cancel', 'last']);
  await server.stop();
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

/** Sends a request, again when the server had too many: its limit is not the subject here. */
async function send(...request: Parameters<TestServer['send']>): ReturnType<TestServer['send']> {
  for (;;) {
    const answer = await server.send(...request);
    if (answer.status !== 429) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A value for a schema: of its type, with bad content; or of another type. */
function valueFor(schema: Schema, random: SeededRandom, depth = 0): unknown {
  const { type, enum: choices, items, properties, anyOf } = schema;
  if (random.chance(0.15)) return random.pick([null, true, -1, 1.5, 1e308, [], {}, [[]], ...TEXTS]);
  if (choices !== undefined) return random.pick([...choices, 'other']);
  if (anyOf !== undefined) return valueFor(random.pick(anyOf), random, depth);
  switch (Array.isArray(type) ? random.pick(type) : type) {
    case 'string':
      return random.pick(TEXTS);
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
    case 'number':
      return random.pick([0, 1, -1, 3, 2 ** 31, 2 ** 53, 0.5, 1e308]);
    case 'array':
      return Array.from({ length: random.below(4) }, () => valueFor(items ?? {}, random, depth + 1));
    default:
      return depth > 2 ? {} : inputFor({ properties: properties ?? {} }, random, depth + 1);
  }
}

function inputFor({ properties = {} }: Schema, random: SeededRandom, depth = 0): Record<string, unknown> {
  const given = Object.entries(properties).filter(() => random.chance(0.6));
  const input = Object.fromEntries(given.map(([name, schema]) => [name, valueFor(schema, random, depth)]));
  if (random.chance(0.1)) input[random.pick(TEXTS)] = random.pick(TEXTS);
  // A request that waits for an event would end with the test.
  return {
    ...input,
    ...('follow' in properties && { follow: false }),
    ...('detach' in properties && { detach: true }),
  };
}

function queryOf(input: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(input).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, String(each)] as [string, string]),
  );
  return new URLSearchParams(pairs).toString();
}

describe('the HTTP API', () => {
  for (const seed of [1, 2]) {
    it(`answers every request that its description suggests, with seed ${seed}, and never with 500`, async () => {
      const random = new SeededRandom(seed);
      const { paths, components } = JSON.parse((await server.get('/openapi.json')).text) as Document;
      const followed = (schema: Schema & { $ref?: string }): Schema =>
        schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)!]!;
      let answered = 0;
      for (const [path, methods] of Object.entries(paths)) {
        // What waits for changes answers without an end.
        if (!path.startsWith('/api/v1/') || /stream$|\{|run\.(wait|attach)$|self-test$/.test(path)) continue;
        for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
          const query: Record<string, Schema> = Object.fromEntries(
            parameters.flatMap((each) => (each.in === 'query' ? [[each.name, each.schema]] : [])),
          );
          const body = requestBody?.content['application/json']?.schema;
          for (let count = 0; count < INPUTS; count++) {
            const search = queryOf(inputFor({ properties: query }, random));
            const sent = body === undefined ? undefined : JSON.stringify(inputFor(followed(body), random));
            const at = `${path}?${search}`;
            const { status, json } = await send(method.toUpperCase(), at, {
              headers: sent === undefined ? {} : { 'Content-Type': 'application/json' },
              ...(sent !== undefined && { body: sent }),
            });
            assert.notEqual(status, 500, `${method} ${at} ${sent}: ${JSON.stringify(json)}`);
            assert.equal(typeof json.ok, 'boolean', `${method} ${at} ${sent}`);
            answered++;
          }
        }
      }
      assert.ok(answered > 1000, String(answered));
    });
  }

  it('answers an invalid body, and one of another media type, with 400 or 415', async () => {
    for (const [body, type] of [
      ['{', 'application/json'],
      ['[]', 'application/json'],
      ['"x"', 'application/json'],
      ['\u0000', 'application/json'],
      ['{}', 'text/plain'],
      ['a=b', 'application/x-www-form-urlencoded'],
      [`${'['.repeat(100_000)}`, 'application/json'],
    ] as const) {
      const { status, json } = await send('POST', '/api/v1/run.list', {
        headers: { 'Content-Type': type },
        body,
      });
      assert.ok([400, 415].includes(status), `${type} ${body.slice(0, 20)}: ${status}`);
      assert.equal(json.ok, false);
    }
  });
});
