import {
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Prompt,
  type PromptMessage,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  embeddedFile,
  type FileContent,
  type ProjectPrompt,
  projectPrompts,
} from '../operations/project/published.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { PLACEHOLDER } from '../protocol/prompt-file.ts';
import { sentence } from '../util/sentence.ts';
import { boundedText } from './bounded-text.ts';
import type { Client } from './client-of.ts';
import type { Host, OpenHost } from './host.ts';
import { readResource } from './resources.ts';
import { explanationInCalls, explanationText } from './surface-words.ts';

const EXPLAIN: Prompt = {
  name: 'explain',
  title: 'Explain ACOR',
  description: 'How to use the tools of this project, or one topic of it.',
  arguments: [
    {
      name: 'topic',
      description: 'errors, decisions, runs, tool:<name>, …; the overview without it.',
      required: false,
    },
  ],
};
const MAX_TEXT_CHARS = 1000;
/** The key of the form that asks for arguments. */
const FORM = 'arguments';

type Given = Readonly<Record<string, string>>;

/** One request for a prompt. */
interface PromptCall {
  host: Host;
  open: OpenHost;
  client: Client;
  ctx: ServerContext;
}

/** ACOR's own prompt, and those of the project. */
export async function listPrompts(open: OpenHost): Promise<Prompt[]> {
  const prompts = (await projectPrompts(open.app)).filter(({ name }) => name !== EXPLAIN.name);
  return [EXPLAIN, ...prompts.map(shown)];
}

/** A prompt with its arguments filled in, or the form for those that are missing. */
export async function getPrompt(
  call: PromptCall,
  { name, arguments: given = {} }: { name: string; arguments?: Given | undefined },
): Promise<GetPromptResult | InputRequiredResult> {
  if (name === EXPLAIN.name) return explanation(call, given);
  const prompt = (await projectPrompts(call.open.app)).find((each) => each.name === name);
  if (prompt === undefined)
    throw new ProtocolError(-32602, `there is no prompt called ${JSON.stringify(name.slice(0, 100))}`);
  const values = { ...given, ...formValues(call) };
  const missing = prompt.arguments.filter((each) => values[each.name] === undefined);
  const isAsked = inputResponse(call.ctx.mcpReq.inputResponses, FORM).kind !== 'missing';
  const askable = missing.filter(({ ask }) => ask !== undefined);
  if (askable.length > 0 && call.client.elicits && !isAsked) return formFor(askable);
  const lacking = missing.filter(({ required }) => required).map((each) => each.name);
  if (lacking.length > 0) throw new ProtocolError(-32602, `${name} needs a value for ${lacking.join(', ')}`);
  const messages: PromptMessage[] = [];
  for (const part of prompt.parts)
    messages.push({ role: 'user', content: await contentOf(call, part, values) });
  return { ...(prompt.description !== undefined && { description: prompt.description }), messages };
}

async function explanation({ open, ctx }: PromptCall, { topic }: Given): Promise<GetPromptResult> {
  const input = topic === undefined ? {} : { topic };
  const envelope = await open.call('system.explain', input, { signal: ctx.mcpReq.signal });
  if (!envelope.ok)
    throw new ProtocolError(-32602, `${sentence(envelope.error.message)} ${envelope.error.hint}`);
  return {
    messages: [
      { role: 'user', content: { type: 'text', text: explanationText(explanationInCalls(envelope.data)) } },
    ],
  };
}

function shown({ name, title, description, parts, arguments: known }: ProjectPrompt): Prompt {
  const [first] = parts.flatMap((part) => ('text' in part ? part.text.split('\n', 1) : []));
  return {
    name,
    ...(title !== undefined && { title: boundedText(title, MAX_TEXT_CHARS) }),
    description: boundedText(description ?? first ?? `The prompt ${name}.`, MAX_TEXT_CHARS),
    arguments: known.map((each) => ({
      name: each.name,
      ...(each.description !== undefined && { description: boundedText(each.description, MAX_TEXT_CHARS) }),
      // A client refuses a call without a required argument, so that the form would never be shown.
      required: each.required && each.ask === undefined,
    })),
  };
}

function formFor(asked: ProjectPrompt['arguments']): InputRequiredResult {
  const [first] = asked;
  const message = asked.length === 1 ? first!.ask! : 'The prompt needs more to go on.';
  const properties = asked.map(({ name, ask, values }) => [
    name,
    {
      type: 'string' as const,
      title: boundedText(ask!, MAX_TEXT_CHARS),
      ...(values !== undefined && { enum: values }),
    },
  ]);
  const required = asked.filter((each) => each.required).map(({ name }) => name);
  const form = inputRequired.elicit({
    message: boundedText(message, MAX_TEXT_CHARS),
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    },
  });
  return inputRequired({ inputRequests: { [FORM]: form } });
}

function formValues({ ctx }: PromptCall): Record<string, string> {
  const response = inputResponse(ctx.mcpReq.inputResponses, FORM);
  if (response.kind !== 'elicit' || response.action !== 'accept') return {};
  const filled = Object.entries(response.content ?? {}).filter(([, value]) => value !== '');
  return Object.fromEntries(filled.map(([name, value]) => [name, String(value)]));
}

async function contentOf(
  call: PromptCall,
  part: ProjectPrompt['parts'][number],
  values: Given,
): Promise<PromptMessage['content']> {
  const fill = (text: string) => text.replace(PLACEHOLDER, (_, name: string) => values[name] ?? '');
  if ('text' in part) return { type: 'text', text: fill(part.text) };
  if ('path' in part) return asContent(await embeddedFile(call.open.app, part.path).catch(asProtocolError));
  const uri = fill(part.uri);
  const { contents } = await readResource(call.host, call.open, uri, call.ctx.mcpReq.signal);
  return asContent({ mimeType: 'text/plain', ...(contents[0] as Partial<FileContent>), uri });
}

function asContent({ uri, mimeType, text, blob }: FileContent & { uri: string }): PromptMessage['content'] {
  const [family] = mimeType.split('/');
  if (blob !== undefined && (family === 'image' || family === 'audio'))
    return { type: family, data: blob, mimeType };
  return {
    type: 'resource',
    resource: blob === undefined ? { uri, mimeType, text: text ?? '' } : { uri, mimeType, blob },
  };
}

function asProtocolError(error: unknown): never {
  if (error instanceof AcorError) throw new ProtocolError(-32602, `${error.code}: ${error.message}`);
  throw error;
}
