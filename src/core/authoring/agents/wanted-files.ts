import { HASH_MARKS, HTML_MARKS } from '../scaffold/marked-block.ts';
import { templateFiles } from '../scaffold/templates.ts';
import {
  type AgentName,
  CODEX_SERVER,
  CURSOR_SERVER,
  GEMINI_SERVER,
  type HookedAgent,
  hooksOf,
  MCP_SERVER,
  OPENCODE_SERVER,
  VSCODE_SERVER,
} from './agents.ts';
import { blockOfLines, hookGroup, jsonMember, type Part, wholeFile } from './part.ts';

/** Texts generated from the operation registry, so they match this version. */
export interface AgentTexts {
  /** `SKILL.md`, which every agent reads. */
  skill: string;
  /** The lines for `AGENTS.md`. */
  guide: string;
}

/** A file that agents read, and ACOR's parts of it. */
export interface WantedFile {
  /** Relative to the project's folder. */
  path: string;
  agents: AgentName[];
  parts: Part[];
}

/**
 * Other TOML that defines the server's name: TOML allows no second table of one name, and no table beside an inline
 * one.
 */
const OTHER_SERVER = /^[ \t]*(?:\[+[ \t]*)?mcp_servers[ \t]*(?:=|\.[ \t]*["']?acor["']?[ \t]*[\].=])/m;

/** The files that these agents need in a project. */
export function wantedFiles(agents: readonly AgentName[], texts: AgentTexts): WantedFile[] {
  const files = [
    ...claudeFiles(texts),
    ...codexFiles(texts),
    ...geminiFiles(texts),
    ...filesWithServer('cursor', texts, { path: '.cursor/mcp.json', parts: [serverPart(CURSOR_SERVER)] }),
    ...filesWithServer('vscode', texts, {
      path: '.vscode/mcp.json',
      parts: [serverPart(VSCODE_SERVER, 'servers')],
    }),
    ...filesWithServer('opencode', texts, {
      path: 'opencode.json',
      parts: [serverPart(OPENCODE_SERVER, 'mcp')],
    }),
  ];
  const byPath = Map.groupBy(
    files.filter(({ agents: [agent] }) => agents.includes(agent!)),
    ({ path }) => path,
  );
  return [...byPath].map(([path, same]) => ({
    path,
    agents: same.flatMap((file) => file.agents),
    parts: same[0]!.parts,
  }));
}

function claudeFiles({ skill }: AgentTexts): WantedFile[] {
  const own = templateFiles('agents', {});
  const text = (name: string) => own.find(({ path }) => path === name)!.text;
  const agents: AgentName[] = ['claude'];
  return [
    { path: '.claude/skills/acor/SKILL.md', agents, parts: [wholeFile(skill)] },
    { path: '.claude/agents/acor-operator.md', agents, parts: [wholeFile(text('acor-operator.md'))] },
    { path: '.claude/commands/run-tool.md', agents, parts: [wholeFile(text('run-tool.md'))] },
    { path: '.claude/settings.json', agents, parts: hookParts('claude') },
    { path: '.mcp.json', agents, parts: [serverPart(MCP_SERVER)] },
  ];
}

function codexFiles({ skill, guide }: AgentTexts): WantedFile[] {
  const agents: AgentName[] = ['codex'];
  return [
    { path: 'AGENTS.md', agents, parts: [blockOfLines(guide, HTML_MARKS)] },
    { path: '.agents/skills/acor/SKILL.md', agents, parts: [wholeFile(skill)] },
    { path: '.codex/config.toml', agents, parts: [blockOfLines(CODEX_SERVER, HASH_MARKS, OTHER_SERVER)] },
    { path: '.codex/hooks.json', agents, parts: hookParts('codex') },
  ];
}

function geminiFiles({ skill, guide }: AgentTexts): WantedFile[] {
  const agents: AgentName[] = ['gemini'];
  const server = serverPart(GEMINI_SERVER);
  return [
    { path: 'GEMINI.md', agents, parts: [blockOfLines(guide, HTML_MARKS)] },
    { path: '.agents/skills/acor/SKILL.md', agents, parts: [wholeFile(skill)] },
    { path: '.gemini/settings.json', agents, parts: [server, ...hookParts('gemini')] },
  ];
}

/** The files of an agent that reads `AGENTS.md` and `.agents/skills`. */
function filesWithServer(
  agent: AgentName,
  { skill, guide }: AgentTexts,
  server: Omit<WantedFile, 'agents'>,
): WantedFile[] {
  const agents = [agent];
  return [
    { path: 'AGENTS.md', agents, parts: [blockOfLines(guide, HTML_MARKS)] },
    { path: '.agents/skills/acor/SKILL.md', agents, parts: [wholeFile(skill)] },
    { ...server, agents },
  ];
}

function serverPart(server: object, key = 'mcpServers'): Part {
  return jsonMember([key, 'acor'], server, (found) => !startsAcor(found));
}

/** Whether a server starts ACOR, itself or by another program such as npx. */
function startsAcor(server: unknown): boolean {
  const { command, args } = (server ?? {}) as { command?: unknown; args?: unknown };
  // OpenCode has the program and its arguments in one list.
  const words = [command, args].flat();
  return words.some((word) => /(?:^|[\\/])acor(?:\.exe)?$/.test(String(word)));
}

function hookParts(agent: HookedAgent): Part[] {
  return hooksOf(agent).map(({ event, command, group }) => hookGroup(event, command, group));
}
