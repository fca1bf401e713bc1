import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { placeText } from '../../config/problem.ts';
import { errorCodeFiles, readErrorCodes } from '../../registry/error-codes.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { WatchedFiles } from '../../registry/watched-files.ts';
import { type Built, buildTool } from './build-tool.ts';
import { OLD_SHORTCUT, planMove } from './existing/plan-move.ts';
import { type InitPlan, type InitRequest, planInit } from './plan-init.ts';
import { type PlannedFile, textAt } from './planned-file.ts';
import { configAt, toolsOf } from './project-tools.ts';
import { templateFiles } from './templates.ts';
import { writeFiles } from './write-files.ts';

/** What `acor init` did, or with `dryRun` would do. */
export interface Initialised extends InitPlan {
  /** Null where nothing had to be built. */
  build: Built | null;
}

/**
 * Makes a folder a project of ACOR, or moves one of seed 000's shape over. Throws E_USAGE, E_STORAGE, E_DISK_FULL, and
 * E_CONFIG_INVALID for a configuration that is there and does not hold.
 */
export async function initProject(request: InitRequest & { dryRun: boolean }): Promise<Initialised> {
  const { root, env, dryRun, fromExisting } = request;
  const moved = fromExisting ? planMove(root) : [];
  const plan = await planInit(request);
  const files = [...plan.files.map((file) => (fromExisting ? withNewShortcut(file, root) : file)), ...moved];
  if (!dryRun) writeFiles(files, root);
  const build =
    dryRun || plan.tool === null ? null : await buildTool(plan.tool.template, plan.tool.folder, env);
  const config = await configAt(root, env);
  const open = fromExisting ? await openProblems(config, await toolsOf(config)) : [];
  return { ...plan, files: [...files, ...open], build };
}

/** The shortcut of seed 000 makes room for the new one, which takes the same arguments. */
function withNewShortcut(file: PlannedFile, root: string): PlannedFile {
  if (file.path !== join(root, 'tool') || file.action !== 'keep') return file;
  if (!OLD_SHORTCUT.test(textAt(file.path) ?? '')) return file;
  const { text } = templateFiles('project', {}).find(({ path }) => path === 'tool')!;
  return { path: file.path, action: 'replace', why: 'it started tools/run.py', text, mode: 0o755 };
}

/** What keeps tools and error codes of a project that was moved over from being used, for a person to put right. */
async function openProblems(config: LoadedConfig, tools: readonly ToolEntry[]): Promise<PlannedFile[]> {
  const ofTools = tools.flatMap(({ problems }) =>
    problems.map(
      (problem): PlannedFile => ({
        path: problem.file,
        action: 'could_not',
        why: `${placeText(problem)}: ${problem.message}`,
        by_hand: problem.fix,
        ...(problem.next && { next: problem.next }),
      }),
    ),
  );
  return [...ofTools, ...(await ofErrorCodes(config))];
}

async function ofErrorCodes(config: LoadedConfig): Promise<PlannedFile[]> {
  const path = errorCodeFiles(config).find((each) => existsSync(each));
  if (path === undefined) return [];
  try {
    await readErrorCodes([path], new WatchedFiles());
    return [];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return [{ path, action: 'could_not', why: error.message, by_hand: error.hint ?? 'Mend it.' }];
  }
}
