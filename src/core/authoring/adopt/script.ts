import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { adoptFile, describeTool, runTool, validateTool } from '../../../protocol/next-steps.ts';
import { givenPathOf, isInside, realPathOf } from '../../../util/real-path.ts';
import { type LoadedConfig, registryDirsOf, toolsDirsOf } from '../../config/load.ts';
import { scriptTool } from '../../registry/ad-hoc.ts';
import { usageLine } from '../../registry/argument-problem.ts';
import { stemOf } from '../../registry/candidate.ts';
import { commandOf, librariesOf } from '../../registry/command.ts';
import { findProgram, isProgram } from '../../registry/find-program.ts';
import { inputsOf } from '../../registry/input-schema.ts';
import { readShebang } from '../../registry/languages/executable.ts';
import type { Language } from '../../registry/languages/language.ts';
import type { Registry, ToolEntry } from '../../registry/registry.ts';
import { isNoTool } from '../../registry/tools-folder.ts';
import type { StartedScript } from './help-place.ts';

/** The project, and the call that names the script. */
interface ScriptPlace {
  config: LoadedConfig;
  registry: Registry;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** A script in a tools folder that has no manifest yet. */
export interface ScriptToAdopt extends StartedScript {
  path: string;
  /** The name of the tool that it is, or becomes. */
  name: string;
  dir: string;
  /** The path of its manifest. */
  file: string;
  /** The `entry` of the manifest; undefined for a tool that is a single file. */
  entry?: string;
  /** Whether its source contains messages of the protocol. */
  writesProtocol: boolean;
}

const PROTOCOL =
  /\bacor[./]protocol\b|\bacor\/tool\b|\bacor\.sh\b|\bemit_?(?:result|error|start|progress)\b|"type"\s*:\s*"(?:result|progress|start)"/i;

/**
 * The script that a call of `adopt` names; null for a program. Throws E_USAGE for a script that has a manifest, is not
 * the entry of its tool, or is in no tools folder and cannot be executed by itself.
 */
export async function scriptOf(program: string, place: ScriptPlace): Promise<ScriptToAdopt | null> {
  const { config, registry, cwd, env } = place;
  if (!program.includes('/') && findProgram(program, env) !== undefined) return null;
  const { path, stats } = givenPathOf(resolve(cwd, program), cwd);
  if (!stats?.isFile()) return null;
  const toolsDir = toolsDirsOf(config)
    .map((dir) => realPathOf(dir, config.root).path)
    .find((dir) => isInside(path, dir));
  const [child = '', ...rest] = toolsDir === undefined ? [] : relative(toolsDir, path).split('/');
  const languages = await registry.languages();
  if (toolsDir === undefined || isNoTool(child)) {
    const isScript = languages.some(({ extensions }) => extensions.includes(extname(path).toLowerCase()));
    if (isScript && !(isProgram(path) && readShebang(path) !== null))
      throw await inNoToolsFolder(path, place, languages);
    return null;
  }
  const isFile = rest.length === 0;
  const dir = isFile ? toolsDir : join(toolsDir, child);
  const known = (await registry.list()).find((tool) => (isFile ? tool.entry === path : tool.dir === dir));
  refuseKnown(known, path, cwd);
  const tool = await scriptTool(path, languages);
  if (tool === null) throw notExecutable(path);
  const named = { ...tool, dir, name: isFile ? stemOf(basename(path)) : child };
  const folder = isFile ? join(registryDirsOf(config)[0]!, named.name) : dir;
  return {
    path,
    name: named.name,
    dir,
    file: join(folder, 'tool.yaml'),
    ...(!isFile && { entry: rest.join('/') }),
    writesProtocol: PROTOCOL.test(readFileSync(path, 'utf8')),
    command: await commandOf(named, config, env),
    language: named.language,
    libraries: librariesOf(named, config),
  };
}

function refuseKnown(known: ToolEntry | undefined, path: string, cwd: string): void {
  if (known === undefined) return;
  const { name, entry, manifestPath, hasHeader } = known;
  if (manifestPath !== null || hasHeader)
    throw new AcorError('E_USAGE', `the tool '${name}' has a manifest: ${manifestPath ?? entry}`, {
      hint: 'Change that one, or remove it first. ACOR overwrites nothing.',
      details: { file: manifestPath ?? entry },
      next: [validateTool(name)],
    });
  if (entry !== null && entry !== path)
    throw new AcorError('E_USAGE', `${path} is not the entry of the tool '${name}', which is ${entry}`, {
      hint: 'Adopt the entry, or move the other script into a folder of its own.',
      next: [adoptFile(relative(cwd, entry))],
    });
}

/** A script that has its manifest in its comments needs no draft, and its inputs may be required. */
async function inNoToolsFolder(
  path: string,
  { config, cwd }: ScriptPlace,
  languages: readonly Language[],
): Promise<AcorError> {
  const [dir = 'tools'] = toolsDirsOf(config).filter((each) => existsSync(each));
  const target = join(relative(config.root, dir) || dir, stemOf(basename(path)), `cli${extname(path)}`);
  const relativePath = relative(cwd, path);
  const said = relativePath.startsWith('.') ? relativePath : `./${relativePath}`;
  const tool = await scriptTool(path, languages);
  const hasManifest = tool?.hasHeader === true;
  const move = `Move it to ${target}, or add ${dirname(path)} to project.tools_dirs`;
  return new AcorError('E_USAGE', `${path} is a script in none of the tools folders of this project`, {
    hint: hasManifest
      ? `Its comments hold its manifest, so there is nothing to draft: run it by its path. Usage: \`run ${usageLine(said, inputsOf(tool.manifest))}\`. To run it by its name: ${move}.`
      : `${move}, and adopt it there. Without a manifest it can be run by its path.`,
    details: { path, tools_dirs: toolsDirsOf(config) },
    next: [hasManifest ? describeTool(said) : runTool(said)],
  });
}

function notExecutable(path: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `${path} is not executable, and its language is unknown`, {
    hint: `Set its mode bit: chmod +x '${path}'`,
    next: [{ command: `chmod +x '${path}'`, why: 'Make the file executable.' }],
  });
}
