import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { FIX_SAFELY } from '../../../protocol/next-steps.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { placeText } from '../../config/problem.ts';
import { errorCodeFiles, readErrorCodes } from '../../registry/error-codes.ts';
import { lacksAccess } from '../../registry/output-names.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { WatchedFiles } from '../../registry/watched-files.ts';
import { OLD_SHORTCUT, planMove } from './existing/plan-move.ts';
import { unlistedFlags } from './existing/unlisted-flags.ts';
import { type BuildContext, type Built, buildTool } from './new-tool.ts';
import { type InitPlan, type InitRequest, planInit } from './plan-init.ts';
import { type PlannedFile, textAt } from './planned-file.ts';
import { configAt, toolsOf } from './project-tools.ts';
import { templateFiles } from './templates.ts';
import { writeFiles } from './write-files.ts';

/** What `acor init` did, or with `dryRun` would do. */
export interface Initialised extends InitPlan {
  /** Null when there was nothing to build. */
  build: Built | null;
}

/**
 * Makes a folder an ACOR project, or migrates a seed 000 project. Throws E_USAGE, E_STORAGE, E_DISK_FULL, and
 * E_CONFIG_INVALID for an existing invalid configuration.
 */
export async function initProject(
  request: InitRequest & BuildContext & { dryRun: boolean },
): Promise<Initialised> {
  const { root, env, dryRun, fromExisting } = request;
  const moved = fromExisting ? planMove(root) : [];
  const plan = await planInit(request);
  const files = [...plan.files.map((file) => (fromExisting ? withNewShortcut(file, root) : file)), ...moved];
  writeFiles(files, root, { trust: plan.trust, dryRun });
  const build =
    dryRun || plan.tool === null ? null : await buildTool(plan.tool.template, plan.tool.folder, request);
  const config = await configAt(root, env);
  const open = fromExisting ? await openProblems(config, await toolsOf(config)) : [];
  return { ...plan, files: [...files, ...open], build };
}

/** The new shortcut replaces that of seed 000 and takes the same arguments. */
function withNewShortcut(file: PlannedFile, root: string): PlannedFile {
  if (file.path !== join(root, 'tool') || file.action !== 'keep') return file;
  if (!OLD_SHORTCUT.test(textAt(file.path) ?? '')) return file;
  const { text } = templateFiles('project', {}).find(({ path }) => path === 'tool')!;
  return { path: file.path, action: 'replace', why: 'it started tools/run.py', text, mode: 0o755 };
}

/** Problems of a migrated project's tools and error codes that a person must fix. */
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
  return [
    ...ofTools,
    ...tools.flatMap(withoutAccess),
    ...tools.flatMap(unlistedFlags),
    ...(await ofErrorCodes(config)),
  ];
}

/** The old runner let a tool write to any path; ACOR writes to a path that exists only with `access: write`. */
function withoutAccess({ manifest, manifestPath }: ToolEntry): PlannedFile[] {
  const outputs = (manifest.inputs ?? []).filter(lacksAccess).map(({ name }) => `'${name}'`);
  if (manifestPath === null || outputs.length === 0) return [];
  const why = `${outputs.join(', ')} without access: a path that exists is read-only for the tool, so a second run cannot write to it`;
  return [{ path: manifestPath, action: 'keep', why, by_hand: 'Add access: write.', next: [FIX_SAFELY] }];
}

async function ofErrorCodes(config: LoadedConfig): Promise<PlannedFile[]> {
  const path = errorCodeFiles(config).find((each) => existsSync(each));
  if (path === undefined) return [];
  try {
    await readErrorCodes([path], new WatchedFiles());
    return [];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return [{ path, action: 'could_not', why: error.message, by_hand: error.hint ?? 'Fix the file.' }];
  }
}
