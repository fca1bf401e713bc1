import * as z from 'zod';
import type { Route } from '../compose/cli-app.ts';
import type { Operation } from '../compose/operation.ts';
import { type Parameter, parametersOf } from '../compose/parameters.ts';
import type { AcorApp } from '../operations/acor-app.ts';
import { ACOR_VERSION } from '../util/version.ts';
import { HttpError } from './http-error.ts';
import { OPERATIONS_PATH } from './next-requests.ts';

type Json = Readonly<Record<string, unknown>>;

const VERSIONS: Readonly<Record<string, string>> = { '3.1': '3.1.1', '3.2': '3.2.0' };

/** The OpenAPI document of the operations that a server offers. It says how streams look only since 3.2, which is the default. */
export async function openApiText(
  routes: ReadonlyMap<string, Route<AcorApp>>,
  query: URLSearchParams,
): Promise<string> {
  const wanted = query.get('version') ?? '3.2';
  const version = VERSIONS[wanted];
  if (version === undefined)
    throw new HttpError(400, 'E_USAGE', `there is no document for OpenAPI ${JSON.stringify(wanted)}`, {
      hint: `Use ?version= with one of: ${Object.keys(VERSIONS).join(', ')}.`,
    });
  return JSON.stringify(await openApi(routes, version));
}

async function openApi(routes: ReadonlyMap<string, Route<AcorApp>>, version: string): Promise<Json> {
  const operations = await Promise.all([...routes.values()].map(({ load }) => load()));
  operations.sort((a, b) => (a.name < b.name ? -1 : 1));
  const saysItems = version !== VERSIONS['3.1'];
  return {
    openapi: version,
    info: {
      title: 'ACOR',
      version: ACOR_VERSION,
      summary: 'Runs command-line tools for AI agents: checked, supervised, limited, recorded.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(operations.map((op) => [OPERATIONS_PATH + op.name, pathItem(op)])),
      ...streamPaths(saysItems),
    },
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'acor_<port>',
          description: 'Set by the link that `acor serve` prints.',
        },
      },
      parameters: PARAMETERS,
      schemas: { Meta: META, Failure: FAILURE },
      responses: {
        Failure: {
          description: 'The error; the status is that of its class.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
        },
      },
    },
  };
}

function tagOf({ name }: Pick<Operation<AcorApp>, 'name'>): string {
  return name.split('.', 1)[0]!;
}

function pathItem(op: Operation<AcorApp>): Json {
  const about = { summary: op.summary, tags: [tagOf(op)] };
  const responses = { 200: success(op), default: { $ref: '#/components/responses/Failure' } };
  const part = ['fields', 'limit', 'offset'].map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const post = {
    ...about,
    operationId: op.name,
    parameters: [...part, ...(op.effect === 'reads' ? [] : [{ $ref: '#/components/parameters/key' }])],
    requestBody: { content: { 'application/json': { schema: schemaOf(op.input, 'input') } } },
    responses,
  };
  if (op.effect !== 'reads') return { post };
  const parameters = [
    ...parametersOf(op).map(queryParameter),
    ...part,
    { $ref: '#/components/parameters/etag' },
  ];
  const unchanged = { 304: { description: 'The client has the answer already.' } };
  const get = {
    ...about,
    operationId: `${op.name}.get`,
    parameters,
    responses: { ...responses, ...unchanged },
  };
  return { get, post };
}

function success(op: Operation<AcorApp>): Json {
  const schema = {
    type: 'object',
    properties: {
      ok: { const: true },
      data: schemaOf(op.output, 'output'),
      meta: { $ref: '#/components/schemas/Meta' },
    },
    required: ['ok', 'data', 'meta'],
  };
  return { description: 'The answer.', content: { 'application/json': { schema } } };
}

function queryParameter(parameter: Parameter): Json {
  const schema = schemaOf(parameter.schema as z.ZodType, 'input');
  const { key: name, isRequired: required, description } = parameter;
  return { name, in: 'query', required, description, schema };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function streamPaths(saysItems: boolean): Json {
  const stream = (mediaType: string, itemSchema: Json) => ({
    [mediaType]: saysItems ? { itemSchema } : { schema: { type: 'string' } },
  });
  const event = { type: 'object', properties: { seq: { type: 'integer' }, type: { type: 'string' } } };
  const message = {
    type: 'object',
    properties: { id: { type: 'string' }, event: { type: 'string' }, data: { type: 'string' } },
  };
  const failed = { default: { $ref: '#/components/responses/Failure' } };
  const run = { name: 'run', in: 'path', required: true, schema: { type: 'string' } };
  const query = (name: string, type: string, description: string) => ({
    ...{ name, in: 'query', description },
    schema: { type },
  });
  return {
    [`${OPERATIONS_PATH}stream`]: {
      get: {
        operationId: 'stream',
        summary: 'What changes in the runs, as server-sent events; the id of a message is a cursor.',
        parameters: [query('cursor', 'string', 'The id of the last message; Last-Event-ID does the same.')],
        responses: {
          200: {
            description: 'Until the client leaves, or a message failure with a failed answer.',
            content: stream('text/event-stream', message),
          },
          ...failed,
        },
      },
    },
    [`${OPERATIONS_PATH}runs/{run}/events`]: {
      get: {
        operationId: 'events',
        summary: 'The events of a run as JSON lines, or as server-sent events up to its end.',
        parameters: [
          run,
          query('since', 'integer', 'Only events after this seq; Last-Event-ID does the same.'),
          query('follow', 'boolean', 'Wait for more until the run ends.'),
        ],
        responses: {
          200: {
            description:
              'The events. A last line, or message failure, with a failed answer says why they end before the run.',
            content: { ...stream('application/jsonl', event), ...stream('text/event-stream', message) },
          },
          ...failed,
        },
      },
    },
    [`${OPERATIONS_PATH}runs/{run}/artifacts/{number}`]: {
      get: {
        operationId: 'artifact',
        summary: 'An artifact of a run as a file to save.',
        parameters: [
          run,
          { name: 'number', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } },
        ],
        responses: {
          200: { description: 'The bytes.', content: { 'application/octet-stream': {} } },
          ...failed,
        },
      },
    },
  };
}

const text = { type: 'string' };

const META = {
  type: 'object',
  properties: {
    tool: text,
    elapsed: { type: 'number', description: 'In milliseconds.' },
    count: { type: 'integer' },
    total: { type: 'integer' },
    hasMore: { type: 'boolean' },
    tokens: { type: 'integer' },
    warnings: { type: 'array', items: text },
    next: {
      type: 'array',
      description: 'What leads on: a request to this server, or a command.',
      items: {
        type: 'object',
        properties: {
          method: { const: 'POST' },
          path: text,
          body: { type: 'object' },
          command: text,
          why: text,
        },
        required: ['command', 'why'],
      },
    },
  },
  required: ['tool', 'elapsed'],
};

const FAILURE = {
  type: 'object',
  properties: {
    ok: { const: false },
    error: {
      type: 'object',
      properties: {
        code: text,
        message: text,
        hint: text,
        class: text,
        retryable: { type: 'boolean' },
        action: text,
        details: { type: 'object' },
      },
      required: ['code', 'message', 'hint', 'class', 'retryable', 'action'],
    },
    meta: { $ref: '#/components/schemas/Meta' },
  },
  required: ['ok', 'error', 'meta'],
};

const PARAMETERS = {
  fields: {
    name: 'fields',
    in: 'query',
    description: 'Keep only these fields of the answer: dotted paths, separated by commas.',
    schema: text,
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Keep at most this many elements of the list in the answer.',
    schema: { type: 'integer', minimum: 0 },
  },
  offset: {
    name: 'offset',
    in: 'query',
    description: 'Skip this many elements at the start of the list.',
    schema: { type: 'integer', minimum: 0 },
  },
  key: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same call again with the same key gets the answer of the first one.',
    schema: text,
  },
  etag: { name: 'If-None-Match', in: 'header', description: 'The ETag of an earlier answer.', schema: text },
};
