import {
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { Envelope } from '../compose/envelope.ts';
import { publishedResource, publishedResources } from '../operations/project/published.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { isRunId } from '../protocol/run.ts';
import { sentence } from '../util/sentence.ts';
import { boundedText } from './bounded-text.ts';
import { checkCursor } from './cursors.ts';
import type { Host, OpenHost } from './host.ts';
import { readSkillFile, SKILL_URI, skillResources } from './skills.ts';
import { explanationInCalls, explanationText } from './surface-words.ts';
import { readToolResource } from './tool-resource.ts';

const PAGE_RUNS = 50;
const MAX_TEXT_CHARS = 1000;
/** A resource is sent whole; a larger one is read in parts, with acor_artifact_read. */
const MAX_BYTES = 8_388_608;
const JSON_TYPE = 'application/json';

const EXPLANATION: Resource = {
  uri: 'acor://explain',
  name: 'How to use this project',
  description: 'Its tools, how to run them, answer their questions and recover from errors.',
  mimeType: 'text/markdown',
};

const TEMPLATES: ResourceTemplateType[] = [
  {
    uriTemplate: 'acor://runs/{run}',
    name: 'A run',
    description: 'Its state, progress, questions, result and artifacts.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'acor://runs/{run}/events{?since}',
    name: 'Events of a run',
    description: 'One JSON object a line, at most 1000, those after a seq.',
    mimeType: 'application/jsonl',
  },
  {
    uriTemplate: 'acor://runs/{run}/artifacts/{number}/{name}',
    name: 'An artifact of a run',
    description: 'Its number is that in the list of artifacts, from 1 on.',
  },
];

/** The addresses with variables: those of runs, and those that the project lets its tools answer. */
export async function listTemplates(open: OpenHost): Promise<ResourceTemplateType[]> {
  const { tools } = await publishedResources(open.app);
  const made = tools.filter(({ variables }) => variables.length > 0);
  return [...TEMPLATES, ...made.map(({ uriTemplate, ...about }) => ({ uriTemplate, ...describe(about) }))];
}

/** What the project publishes, then its runs, the newest first. The cursor is the last run of the previous page. */
export async function listResources(
  open: OpenHost,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  checkCursor(cursor, isRunId);
  await open.app.authorize({ name: 'run.list', effect: 'reads' }, {});
  const index = await (await open.app.project()).index();
  // Ids sort by time, so a page stays the same when new runs start.
  const { runs, total } = await index.query({ before: cursor, limit: PAGE_RUNS });
  const resources = runs.map(({ run_id, tool, state, created_at }) => ({
    uri: `acor://runs/${run_id}`,
    name: run_id,
    description: `${tool}: ${state}, ${created_at}`,
    mimeType: JSON_TYPE,
  }));
  const last = runs.at(-1);
  return {
    resources: [...(cursor === undefined ? await published(open) : []), ...resources],
    ...(last !== undefined && total > runs.length && { nextCursor: last.run_id }),
  };
}

async function published(open: OpenHost): Promise<Resource[]> {
  const { files, tools } = await publishedResources(open.app);
  const fixed = tools.filter(({ variables }) => variables.length === 0);
  return [
    EXPLANATION,
    ...(await skillResources(open)),
    ...files.map(({ uri, path, ...about }) => ({ uri, ...describe({ name: path, ...about }) })),
    ...fixed.map(({ uriTemplate, ...about }) => ({ uri: uriTemplate, ...describe(about) })),
  ];
}

function describe({
  name,
  description,
  mimeType,
}: {
  name: string;
  description: string | undefined;
  mimeType: string | undefined;
}): Pick<Resource, 'name' | 'description' | 'mimeType'> {
  return {
    name,
    ...(description !== undefined && { description: boundedText(description, MAX_TEXT_CHARS) }),
    ...(mimeType !== undefined && { mimeType }),
  };
}

/** Reads a resource. A missing one is a protocol error with its address. */
export async function readResource(
  host: Host,
  open: OpenHost,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  if (uri === EXPLANATION.uri) {
    const data = dataOf(await open.call('system.explain', {}, { signal }), uri);
    const text = explanationText(explanationInCalls(data));
    return { contents: [{ uri, mimeType: 'text/markdown', text }] };
  }
  const match = /^acor:\/\/runs\/([^/?]+)(?:\/(events)(?:\?since=(\d+))?|\/artifacts\/(\d+)\/[^/]*)?$/.exec(
    uri,
  );
  if (match === null && uri.startsWith(SKILL_URI)) return readSkillFile(open, uri);
  if (match === null) return readPublished(host, open, uri, signal);
  const [, run, events, since, artifact] = match;
  if (artifact !== undefined) {
    const input = { run, artifact, bytes: MAX_BYTES };
    return {
      contents: [artifactContents(uri, dataOf(await open.call('run.artifact', input, { signal }), uri))],
    };
  }
  if (events !== undefined) {
    const input = { run, since: Number(since ?? 0) };
    const data = dataOf(await open.call('run.logs', input, { signal }), uri) as { events: unknown[] };
    const text = data.events.map((event) => `${JSON.stringify(event)}\n`).join('');
    return { contents: [{ uri, mimeType: 'application/jsonl', text }] };
  }
  const shown = dataOf(await open.call('run.show', { run }, { signal }), uri);
  return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(shown) }] };
}

async function readPublished(
  host: Host,
  open: OpenHost,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const found = await publishedResource(open.app, uri).catch((error) => refuse(error, uri));
  if (found === undefined) throw new ResourceNotFoundError(uri);
  if (found.kind === 'tool') return readToolResource(host, open, { uri, ...found }, signal);
  const { mimeType, text, blob } = found.content;
  return { contents: [blob === undefined ? { uri, mimeType, text: text ?? '' } : { uri, mimeType, blob }] };
}

/** Throws a protocol error when the policy does not let the client read, and so not watch, a resource. */
export async function checkSubscriber({ app }: OpenHost, uri: string): Promise<void> {
  const operation = { name: 'resource.subscribe', effect: 'reads' } as const;
  await app.authorize(operation, { uri }).catch((error: unknown) => refuse(error, uri));
}

function refuse(error: unknown, uri: string): never {
  if (!(error instanceof AcorError)) throw error;
  throw new ProtocolError(-32602, `${error.code}: ${sentence(error.message)} ${error.hint}`, { uri });
}

interface ArtifactPart {
  media_type: string;
  size: number;
  bytes: number;
  encoding: 'utf8' | 'base64';
  content: string;
}

function artifactContents(uri: string, data: unknown): ReadResourceResult['contents'][number] {
  const { media_type: mimeType, size, bytes, encoding, content } = data as ArtifactPart;
  if (bytes < size) {
    throw new ProtocolError(-32602, `${uri} has ${size} bytes: read it in parts with acor_artifact_read`, {
      uri,
    });
  }
  return encoding === 'utf8' ? { uri, mimeType, text: content } : { uri, mimeType, blob: content };
}

function dataOf(envelope: Envelope<unknown>, uri: string): unknown {
  if (envelope.ok) return envelope.data;
  const { code, message, hint } = envelope.error;
  if (code === 'E_RUN_NOT_FOUND') throw new ResourceNotFoundError(uri);
  throw new ProtocolError(-32602, `${code}: ${sentence(message)} ${hint}`, { uri });
}
