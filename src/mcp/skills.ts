import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Skill } from '@modelcontextprotocol/server/ext/skills';
import * as z from 'zod';
import { skillsFolder } from '../operations/project/skills.ts';
import { boundedText } from './bounded-text.ts';
import { clientOf } from './client-of.ts';
import type { Host, OpenHost } from './host.ts';

/** The extension by which a server offers skills (SEP-2640). */
export const SKILLS = 'io.modelcontextprotocol/skills';
export const SKILL_URI = 'skill://';

const MARKDOWN = 'text/markdown';
const MAX_TEXT_CHARS = 1000;
const CACHE = { ttlMs: 0, cacheScope: 'private' };

/** Implements `skills/list` and `skills/get`: the folders in `.acor/skills`, read at each request. */
export function serveSkills(server: Server, host: Host): void {
  const answer = (result: object, ctx: ServerContext) => {
    const client = clientOf(server, ctx);
    return { ...result, ...(client.isAskedByResult && CACHE) };
  };
  const skills = (ctx: ServerContext) => readSkills(host.open(clientOf(server, ctx)));
  server.setRequestHandler('skills/list', { params: z.looseObject({}) }, async (_, ctx) =>
    answer({ skills: await skills(ctx) }, ctx),
  );
  server.setRequestHandler(
    'skills/get',
    { params: z.looseObject({ uri: z.string() }) },
    async ({ uri }, ctx) => {
      const skill = (await skills(ctx)).find((each) => each.uri === uri);
      if (skill === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no skill at ${uri}`);
      return answer({ skill }, ctx);
    },
  );
}

/** The SKILL.md of each skill, for `resources/list`. */
export async function skillResources(open: OpenHost): Promise<Resource[]> {
  return (await readSkills(open)).map(({ uri, frontmatter }) => ({
    uri,
    name: frontmatter.name,
    description: boundedText(frontmatter.description, MAX_TEXT_CHARS),
    mimeType: MARKDOWN,
  }));
}

/** A file of a skill. Throws for any other address. */
export async function readSkillFile(open: OpenHost, uri: string): Promise<ReadResourceResult> {
  const folder = await skillsFolder(open.app);
  const files = (await readSkills(open)).flatMap(({ resources }) =>
    resources === 'dynamic' ? [] : resources,
  );
  if (folder === undefined || !files.some((each) => each.uri === uri)) throw new ResourceNotFoundError(uri);
  const { nodeSkillFiles } = await import('@modelcontextprotocol/server/ext/skills/node');
  const bytes = await nodeSkillFiles(folder).read(decodeURIComponent(uri.slice(SKILL_URI.length)));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { contents: [{ uri, mimeType: uri.endsWith('.md') ? MARKDOWN : 'text/plain', text }] };
  } catch {
    return { contents: [{ uri, blob: Buffer.from(bytes).toString('base64') }] };
  }
}

/** The valid skills; the others are reported on stderr. */
async function readSkills(open: OpenHost): Promise<readonly Skill[]> {
  const folder = await skillsFolder(open.app);
  if (folder === undefined) return [];
  const { loadSkills } = await import('@modelcontextprotocol/server/ext/skills/node');
  const onWarning = ({ path, message }: { path: string; message: string }) =>
    process.stderr.write(`acor: ${folder}/${path}: ${message}\n`);
  return (await loadSkills(folder, { onWarning })).entries;
}
