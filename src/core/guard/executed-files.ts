import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ContentDigests } from '../../util/content-digest.ts';
import { countOf } from '../../util/count-of.ts';
import { isInside } from '../../util/real-path.ts';
import { newSha256, sha256Of } from '../../util/sha256.ts';
import { startedBy, startedFolders } from '../../util/started-content.ts';
import { type LoadedConfig, runsDirOf, toolsDirsOf } from '../config/load.ts';
import { sharedLibraryOf, workingFolderOf } from '../registry/command.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { type DigestedFile, digestOf } from './tool-digest.ts';

const BOUND = { bytes: 500_000_000, files: 50_000 };
/** A folder with more files is one line of what a person reads. */
const MOST_LINES = 100;

/** All that would be executed, as a person approves it. */
export interface ExecutedFiles {
  digest: string;
  files: DigestedFile[];
  /** Folders too large to be read as a whole: for the rest of their files, size and time count. */
  comparedBySize: string[];
}

/**
 * A digest of everything that would be executed (contract §9): manifest and entry, the files and folders that `command` names, the tool's
 * folder and where links in it lead, interpreters, the virtual environment, and the library that the tools share. Code that these load from
 * elsewhere is not covered. Relative words count from the tool's folder and from where the tool starts; `path` is where `env` looks programs up.
 */
export function executedFiles(
  tool: ToolEntry,
  { config, runtime, path }: { config: LoadedConfig; runtime: string; path: string },
): ExecutedFiles {
  const runsDir = runsDirOf(config);
  const digests = new ContentDigests(BOUND, (each) => each.endsWith('/.git') || each === runsDir);
  const files: DigestedFile[] = [...digestOf(tool).files];
  const add = (name: string, sha256: string) => {
    if (!files.some((each) => each.name === name)) files.push({ name, sha256 });
  };
  const start = workingFolderOf(tool, config);
  const places = { folders: [tool.dir, ...(start === undefined ? [] : [start])], path };
  const started = startedBy(tool.command ?? [], places, [runtime]);
  const folders = foldersOf(tool, config, runtime);
  const isOfFolder = (each: string) =>
    folders.some(({ folder, prefix }) => prefix === '' && isInside(each, folder));
  const listed = files.map(({ name }) => resolve(tool.dir, name));
  for (const each of started.files) {
    if (listed.includes(each) || (each !== runtime && isOfFolder(each))) continue;
    const sha256 = sha256IfReadable(each);
    if (sha256 !== undefined) add(each, sha256);
  }
  const all = [...folders.map(({ folder }) => folder), ...started.folders];
  for (const { folder, found, isPart } of startedFolders(all, { digests, roots: [config.root] })) {
    const prefix = folders.find((each) => each.folder === folder)?.prefix ?? `${folder}/`;
    const count = `${countOf(found.files.length, 'file')}${isPart ? ', a part of them by size and time' : ''}`;
    if (isPart || found.files.length > MOST_LINES) add(`${folder}/ (${count})`, found.sha256);
    else for (const { name, sha256 } of found.files) add(`${prefix}${name}`, sha256);
  }
  const content = files.map(({ name, sha256 }) => [name, sha256]);
  return {
    digest: newSha256()
      .update(JSON.stringify(['acor-tool-2', ...content]))
      .digest('hex'),
    files,
    comparedBySize: digests.comparedBySize,
  };
}

/** The tool's folder, unless the tool is a single file among others; a virtual environment elsewhere; the shared library. */
function foldersOf(
  tool: ToolEntry,
  config: LoadedConfig,
  runtime: string,
): { folder: string; prefix: string }[] {
  const tools = toolsDirsOf(config).flatMap((path) => (existsSync(path) ? [realpathSync(path)] : []));
  const own = tools.includes(realpathSync(tool.dir)) ? [] : [{ folder: tool.dir, prefix: '' }];
  const environment = dirname(dirname(runtime));
  const others = [
    ...(existsSync(join(environment, 'pyvenv.cfg')) && !isInside(environment, tool.dir) ? [environment] : []),
    ...sharedLibraryOf(tool, config),
  ];
  return [...own, ...others.map((folder) => ({ folder, prefix: `${folder}/` }))];
}

/** A program that may be executed and not read counts by its path alone. */
function sha256IfReadable(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? sha256Of(path) : undefined;
  } catch {
    return undefined;
  }
}
