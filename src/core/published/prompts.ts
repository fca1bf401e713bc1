import { readdirSync, realpathSync } from 'node:fs';
import { dirname, extname, isAbsolute, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { PLACEHOLDER, PROMPT_NAME, type PromptFile, promptFile } from '../../protocol/prompt-file.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import { readRegular } from '../../util/regular-file.ts';
import { checkFile } from '../config/check-file.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type Problem, problemOf } from '../config/problem.ts';
import { parseYaml } from '../config/yaml-file.ts';
import { type FileContent, readFileContent } from './read-file.ts';

/** A prompt of the project: a text with places for arguments, files and resources. */
export interface ProjectPrompt extends PromptFile {
  name: string;
  file: string;
  parts: PromptPart[];
}

/** A stretch of text, or an embedded file or resource. Placeholders are in `text` and `uri`, never in a path. */
export type PromptPart = { text: string } | { uri: string } | { path: string };

const MAX_BYTES = 256 * 1024;
const MAX_PROMPTS = 200;
/** An image of Markdown that is alone on its line. */
const EMBED = /^!\[[^\]\n]*\]\(([^()\s]+)\)[ \t]*$/m;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

export function promptsDirOf({ root }: Pick<LoadedConfig, 'root'>): string {
  return join(root, '.acor', 'prompts');
}

/** The prompts of a project by name, and what is wrong with the others. */
export async function readPrompts(
  config: Pick<LoadedConfig, 'root'>,
): Promise<{ prompts: ProjectPrompt[]; problems: Problem[] }> {
  const read = await Promise.all(promptFiles(config).map((file) => readPrompt(file, config.root)));
  return {
    prompts: read.flatMap(({ prompt }) => prompt ?? []),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** The files of the prompts, by name. */
export function promptFiles(config: Pick<LoadedConfig, 'root'>): string[] {
  const dir = promptsDirOf(config);
  try {
    const names = readdirSync(dir).filter((name) => extname(name) === '.md');
    return names
      .sort()
      .slice(0, MAX_PROMPTS)
      .map((name) => join(dir, name));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A file that a prompt embeds. Throws E_INPUT_NOT_FOUND and E_USAGE. */
export function readEmbedded(
  { root }: Pick<LoadedConfig, 'root'>,
  path: string,
  maxBytes: number,
): FileContent {
  const why = whyNotEmbedded(path, root);
  if (why !== undefined)
    throw new AcorError('E_INPUT_NOT_FOUND', `${path} cannot be embedded: ${why}`, { hint: EMBED_FIX });
  return readFileContent(realPathOf(path, root).path, { maxBytes });
}

async function readPrompt(
  file: string,
  root: string,
): Promise<{ prompt?: ProjectPrompt; problems: Problem[] }> {
  const name = file.slice(dirname(file).length + 1, -'.md'.length);
  if (!PROMPT_NAME.test(name))
    return {
      problems: [problemOf(file, 'prompt-name', `'${name}' cannot be the name of a prompt`, NAME_FIX)],
    };
  const why = whyNotEmbedded(file, root);
  if (why !== undefined)
    return {
      problems: [problemOf(file, 'unreadable', `the prompt cannot be read: ${why}`, 'Replace it by a file.')],
    };
  const read = textOf(file);
  if (typeof read !== 'string') return { problems: [read] };
  const [, front = '', body = read] = /^---\n([\s\S]*?)\n?---(?:\n|$)([\s\S]*)$/.exec(read) ?? [];
  const yaml = await parseYaml(file, front, { aliases: false });
  const { data, problems } = checkFile(promptFile, yaml);
  // The front matter begins in the second line.
  if (data === undefined)
    return { problems: problems.map((each) => ({ ...each, line: each.line + (each.line > 0 ? 1 : 0) })) };
  const parts = partsOf(body, dirname(file));
  const found = [...unknownArguments(file, data, body), ...badEmbeds(file, parts, root)];
  if (found.length > 0) return { problems: found };
  return { prompt: { ...data, name, file, parts }, problems: [] };
}

const NAME_FIX = 'Name the file with letters, digits, - and _.';

function textOf(file: string): string | Problem {
  try {
    const bytes = readRegular(file);
    if (bytes.length > MAX_BYTES)
      return problemOf(file, 'size', `a prompt has at most ${MAX_BYTES} bytes`, 'Make it smaller.');
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (error) {
    return problemOf(
      file,
      'unreadable',
      `the prompt cannot be read: ${errorMessage(error)}`,
      'Save it as UTF-8.',
    );
  }
}

function partsOf(body: string, folder: string): PromptPart[] {
  const pieces = body.split(new RegExp(EMBED, 'gm'));
  // Every second piece is a target, because the pattern has one group.
  return pieces.flatMap((piece, index): PromptPart[] => {
    if (index % 2 === 0) return piece.trim() === '' ? [] : [{ text: piece.trim() }];
    if (SCHEME.test(piece) || piece.includes('{{')) return [{ uri: piece }];
    return [{ path: isAbsolute(piece) ? piece : join(folder, piece) }];
  });
}

function unknownArguments(file: string, { arguments: known }: PromptFile, body: string): Problem[] {
  const names = known.map(({ name }) => name);
  return [...body.matchAll(PLACEHOLDER)]
    .filter(([, name]) => !names.includes(name!))
    .map(([, name]) =>
      problemOf(
        file,
        'prompt-argument',
        `{{${name}}} is not among the arguments of the prompt`,
        `Add it to 'arguments' in the front matter, or remove it.`,
      ),
    );
}

function badEmbeds(file: string, parts: readonly PromptPart[], root: string): Problem[] {
  return parts.flatMap((part) => {
    if (!('path' in part)) return [];
    const why = whyNotEmbedded(part.path, root);
    return why === undefined
      ? []
      : [problemOf(file, 'prompt-file', `${part.path} cannot be embedded: ${why}`, EMBED_FIX)];
  });
}

const EMBED_FIX = 'Name a file of the project, relative to the folder of the prompt.';

function whyNotEmbedded(path: string, root: string): string | undefined {
  try {
    const { path: real, stats } = realPathOf(path, root);
    if (!isInside(real, realpathSync(root))) return 'it is outside the project';
    return stats?.isFile() ? undefined : 'it is not a file';
  } catch (error) {
    return errorMessage(error);
  }
}
