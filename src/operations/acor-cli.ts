import type { CliApp, StartGroup } from '../compose/cli-app.ts';
import { safeLine } from '../compose/terminal-text.ts';
import { writeOut } from '../compose/write-out.ts';
import type { Authorize } from '../core/ports/principal.ts';
import type { ProjectCache } from '../core/project/open-project.ts';
import { errorInfo } from '../protocol/error-codes.ts';
import { ACOR_VERSION } from '../util/version.ts';
import { AcorApp } from './acor-app.ts';
import { ROUTES } from './index.ts';
import type { Surfaces } from './surfaces.ts';

/** What people of other programs type. */
const ALIASES: Readonly<Record<string, string>> = {
  ls: 'list',
  ps: 'runs',
  log: 'logs',
  stop: 'cancel',
  kill: 'cancel',
  rm: 'runs rm',
  new: 'template',
  start: 'run',
  doctor: 'health',
  status: 'health',
  '-v': 'version',
};

/** What people do first: a command line to copy, and what it is for. */
const START: readonly StartGroup[] = [
  {
    title: 'Begin',
    lines: [
      ['acor init', 'make this folder a project, with a first tool'],
      ['acor list', 'the tools of the project'],
      ['acor run hello --who Ada', 'run a tool, and see its answer'],
      ['acor template python --name mine', 'write a tool (bash, node, typescript, go, rust)'],
      ['acor exec -- jq . data.json', 'run any program, once'],
      ['acor adopt jq', 'make an installed program a tool'],
    ],
  },
  {
    title: 'Runs',
    lines: [
      ['acor runs', 'the newest runs'],
      ['acor show last', 'how a run ended; last is the newest'],
      ['acor logs last --follow', 'what a run reports'],
      ['acor answer last --choice yes', 'answer a question of a run'],
      ['acor cancel last', 'stop a run'],
      ['acor resume last', 'continue a run from its checkpoints'],
      ['acor clean --older-than 30d', 'remove old runs'],
    ],
  },
  {
    title: 'More',
    lines: [
      ['acor workflow run nightly', 'steps that need each other'],
      ['acor health', 'what is missing here, and the fix'],
      ['acor init --agents claude', 'let an agent use the tools'],
      ['acor explain', 'how it all works'],
      ['acor run --help', 'the flags of a command'],
      ['acor help all', 'every command'],
    ],
  },
];

/** ACOR's command line: its operations and how they are called. */
export function acorCli({
  surfaces,
  authorize,
  projects,
}: AcorCliOptions = {}): CliApp<AcorApp> & { opened(): AcorApp | undefined } {
  let opened: AcorApp | undefined;
  return {
    name: 'acor',
    version: ACOR_VERSION,
    summary: 'Runs command-line tools for AI agents: checked, supervised, limited, recorded.',
    routes: ROUTES,
    aliases: ALIASES,
    start: START,
    beginWith: 'explain',
    values: async () => (await import('./system/completion-values.ts')).completionValues,
    whyNone: async (operation, key, app) =>
      (await import('./system/completion-values.ts')).whyNoRun(operation, key, app),
    meant: async (words, { cwd, env }) => {
      const { meantBy } = await import('./meant-by.ts');
      return meantBy(new AcorApp({ routes: ROUTES, cwd, env, note: () => {}, surfaces, authorize }), words);
    },
    warnings: (context = opened) => context?.warnings ?? [],
    errorInfo: (code) => opened?.errorInfo(code) ?? errorInfo(code),
    /** The context of the command, once it has one. */
    opened: () => opened,
    openContext({ cwd: givenCwd }, io) {
      const note = (line: string) => void writeOut(io.stderrFd, `${safeLine(line)}\n`).catch(() => false);
      opened = new AcorApp({
        routes: ROUTES,
        cwd: io.cwd,
        givenCwd,
        env: io.env,
        note,
        surfaces,
        authorize,
        ...(projects && { projects }),
      });
      return opened;
    },
  };
}

export interface AcorCliOptions {
  /** The servers that commands can start. */
  surfaces?: Surfaces;
  authorize?: Authorize;
  /** Keeps the project open, in a process that runs many commands. */
  projects?: ProjectCache;
}
