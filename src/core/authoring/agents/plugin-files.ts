import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { ACOR_VERSION } from '../../../util/version.ts';
import { type PlannedFile, textAt } from '../scaffold/planned-file.ts';
import { templateFiles } from '../scaffold/templates.ts';
import { hooksOf, MCP_SERVER, PLAIN_SERVER } from './agents.ts';
import type { AgentTexts } from './wanted-files.ts';

const SPECIFICATION = 'https://agent-plugins.org/schemas/1.0.0';

const MANIFEST = {
  name: 'acor',
  version: ACOR_VERSION,
  description:
    'Runs the command-line tools of a project through ACOR: checked, sandboxed, followed, answered.',
  license: 'Apache-2.0',
  keywords: ['cli', 'tools', 'orchestration', 'sandbox', 'mcp'],
};

/**
 * Plans the plugin: one folder with the manifests of Agent Plugins 1.0.0 and of Claude Code. Throws E_USAGE for a
 * folder with other content.
 */
export function planPlugin(folder: string, texts: AgentTexts): PlannedFile[] {
  const files = pluginFiles(texts);
  refuseOthers(folder);
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name);
    const found = textAt(path);
    if (found === undefined) return { path, action: 'create', text };
    if (found === text) return { path, action: 'unchanged' };
    if (found === null)
      return { path, action: 'could_not', why: 'it is a link or not a plain file', by_hand: 'Remove it.' };
    return { path, action: 'change', text };
  });
}

function pluginFiles({ skill }: AgentTexts): Record<string, string> {
  const own = Object.fromEntries(templateFiles('agents', {}).map(({ path, text }) => [path, text]));
  return {
    'plugin.json': json({ $schema: `${SPECIFICATION}/plugin.schema.json`, ...MANIFEST }),
    'mcp.json': json({
      $schema: `${SPECIFICATION}/mcp.schema.json`,
      mcpServers: { acor: { type: 'stdio', ...PLAIN_SERVER } },
    }),
    'skills/acor/SKILL.md': skill,
    'skills/compose/SKILL.md': own[join('plugin', 'compose-skill.md')]!,
    '.claude-plugin/plugin.json': json({ ...MANIFEST, displayName: 'ACOR', author: { name: 'ACOR' } }),
    '.mcp.json': json({ mcpServers: { acor: MCP_SERVER } }),
    'hooks/hooks.json': json({
      hooks: Object.fromEntries(hooksOf('claude').map(({ event, group }) => [event, [group]])),
    }),
    'agents/acor-operator.md': own['acor-operator.md']!,
    'commands/run-tool.md': own['run-tool.md']!,
    'README.md': own[join('plugin', 'README.md')]!,
  };
}

function refuseOthers(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  if (names.length === 0 || isOurs(textAt(join(folder, 'plugin.json')))) return;
  throw new AcorError('E_USAGE', `${folder} contains files of something else: ${names[0]}`, {
    hint: 'Use an empty folder, or one that does not exist yet.',
    details: { folder },
    next: [
      {
        operation: 'agents.plugin',
        input: { output: join(folder, 'acor-plugin') },
        why: 'Write the plugin to a separate folder.',
      },
    ],
  });
}

function isOurs(manifest: string | null | undefined): boolean {
  try {
    return JSON.parse(manifest ?? '').name === MANIFEST.name;
  } catch {
    return false;
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
