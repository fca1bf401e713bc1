import { dirname } from 'node:path';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../protocol/names.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { isInside } from '../../util/real-path.ts';
import { type Problem, problemOf } from '../config/problem.ts';
import { type Candidate, findManifests, misnamedManifest, rivalManifests } from './candidate.ts';
import { entryOf, noEntry, setLanguage } from './entry-of.ts';
import { readHeaderManifest } from './header-manifest.ts';
import { manifestOf, type ReadManifest, readManifest } from './read-manifest.ts';
import type { ToolEntry } from './tool-entry.ts';
import { isPassing, type WatchedFiles } from './watched-files.ts';

/** Reads a candidate. Null when it is not a tool; the problems of a tool are in `problems`. */
export async function readTool(candidate: Candidate, files: WatchedFiles): Promise<ToolEntry | null> {
  const tool = await readable(candidate, files);
  if (tool?.problems.some(({ rule }) => rule === 'unreadable')) files.leaveOpen();
  return tool;
}

async function readable(candidate: Candidate, files: WatchedFiles): Promise<ToolEntry | null> {
  try {
    return await (candidate.kind === 'link' ? readLinked(candidate, files) : readPlain(candidate, files));
  } catch (error) {
    return broken(candidate, unreadable(candidate.path, error));
  }
}

/** A defect of ACOR is reported at its tool, too: it must not hide the other tools of the project. */
function unreadable(path: string, error: unknown): Problem {
  const why = errorCode(error) ?? errorMessage(error);
  return problemOf(path, 'unreadable', `${path} cannot be read (${why})`, unreadableFix(error));
}

function unreadableFix(error: unknown): string {
  if (isPassing(error)) return 'Try again: the system could not read it now.';
  if (errorCode(error) !== undefined) return 'Fix its permissions.';
  return 'This is a defect of acor: report it, with the files of the tool.';
}

async function readLinked(candidate: Candidate, files: WatchedFiles): Promise<ToolEntry | null> {
  const { path, root } = candidate;
  const real = files.realPath(path, dirname(path));
  if (real?.stats === undefined) {
    return broken(
      candidate,
      problemOf(
        path,
        'dangling-link',
        `${path} is a symlink to a missing file`,
        'Remove it, or fix its target.',
      ),
    );
  }
  if (!isInside(real.path, root)) {
    return broken(
      candidate,
      problemOf(
        path,
        'link-outside',
        `${path} is a symlink to ${real.path}, outside the tools folder`,
        `Copy the tool into ${root}, or add its folder to project.tools_dirs.`,
      ),
    );
  }
  const kind = real.stats.isDirectory() ? 'folder' : 'file';
  const tool = await readPlain({ ...candidate, path: real.path, kind }, files);
  return tool && { ...tool, link: path };
}

/** Most manifests have no problem. Where there is one, the file is read again for its place. */
async function readPlain(candidate: Candidate, files: WatchedFiles): Promise<ToolEntry | null> {
  const tool = await readOnce(candidate, files, { withoutPlaces: true });
  return tool === null || tool.problems.length === 0
    ? tool
    : readOnce(candidate, files, { withoutPlaces: false });
}

async function readOnce(
  candidate: Candidate,
  files: WatchedFiles,
  options: { withoutPlaces: boolean },
): Promise<ToolEntry | null> {
  const { path, name, kind } = candidate;
  const dir = kind === 'folder' ? path : dirname(path);
  const manifestPaths = findManifests(candidate, files);
  const manifestPath = manifestPaths[0] ?? null;
  if (manifestPath === null && candidate.needsManifest) return null;
  const isCalledFor = manifestPath !== null || candidate.language !== undefined;
  if (kind === 'file' && !isCalledFor && !files.isExecutable(path)) return null;

  const manifestRoot =
    manifestPath !== null && !isInside(manifestPath, candidate.root)
      ? dirname(dirname(manifestPath))
      : candidate.root;
  const read =
    manifestPath === null
      ? await readHeader(candidate, dir, files)
      : await readManifest(manifestPath, name, manifestRoot, files, {
          ...options,
          languages: candidate.languages,
        });
  const problems = [
    ...rivalManifests(manifestPaths),
    ...(read?.problems ?? []),
    ...misnamedManifest(candidate, files),
  ];
  const manifest = read?.manifest ?? defaultManifest(name);
  const tool: ToolEntry = {
    name: manifest.name,
    dir,
    entry: null,
    command: manifest.command ?? null,
    language: manifest.language ?? candidate.language ?? 'executable',
    adapter: manifest.adapter,
    manifest,
    manifestPath,
    problems,
    ...(manifestPath === null && read !== undefined && { hasHeader: true }),
  };
  if (!TOOL_NAME.test(tool.name)) {
    problems.push(
      problemOf(
        path,
        'tool-name',
        `the name '${tool.name}' ${TOOL_NAME_RULE}`,
        "Rename it, or set 'name' in its manifest.",
      ),
    );
  }
  if (tool.command !== null) return tool;
  const entry = entryOf(candidate, dir, read, files);
  if (typeof entry === 'string') {
    tool.entry = entry;
    await setLanguage(tool, candidate, files);
  } else if (entry === null) {
    if (manifestPath === null && problems.every(({ rule }) => rule === 'tool-name')) return null;
    if (read?.manifest) problems.push(noEntry(manifestPath!, dir));
  } else {
    problems.push(entry);
  }
  return tool;
}

/** The manifest in the entry itself, for a tool without a tool.yaml. */
async function readHeader(
  candidate: Candidate,
  dir: string,
  files: WatchedFiles,
): Promise<ReadManifest | undefined> {
  const entry = entryOf(candidate, dir, undefined, files);
  if (typeof entry !== 'string' || !files.realPath(entry, dir)?.stats?.isFile()) return undefined;
  const yaml = await readHeaderManifest(entry);
  return yaml && manifestOf(yaml, candidate.name, candidate.languages);
}

function broken({ name, path, root }: Candidate, problem: Problem): ToolEntry {
  return {
    name,
    dir: root,
    entry: null,
    command: null,
    language: 'executable',
    adapter: 'jsonl',
    manifest: defaultManifest(name),
    manifestPath: null,
    problems: [{ ...problem, file: path }],
  };
}
