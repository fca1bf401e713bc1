import type { CommandOf } from '../../protocol/next-steps.ts';
import type { Watchdogs } from '../process/watchdog.ts';
import type { Standbys } from '../run/attempt/standbys.ts';
import { openRuns, type ProjectRuns } from './open-runs.ts';
import { openTools, type ProjectTools, type ToolsPlace } from './open-tools.ts';

/** An open project: its configuration, tools, runs, and plugins if it has any. */
export interface Project extends ProjectTools, ProjectRuns {}

/** Where to search for a project, and how to render its next steps. */
export interface ProjectPlace extends ToolsPlace {
  /** Renders a next step as an exact command, for `runner_end` and the record. */
  commandOf: CommandOf;
}

/** Opens a project. Returns `last` when it is as it was. Throws E_CONFIG_INVALID. */
export async function openProject(place: ProjectPlace, last?: Project): Promise<Project> {
  const tools = await openTools(place, last);
  return last !== undefined && tools === last ? last : withRuns(tools, place.commandOf);
}

/** The whole project, whose tools are open. */
export function withRuns(tools: ProjectTools, commandOf: CommandOf): Project {
  return { ...tools, ...openRuns(tools.config, commandOf) };
}

/**
 * The project of a process that serves many requests. Each request opens it: files are checked, and only changed ones
 * are read again, so the next request sees every change.
 */
export class ProjectCache {
  #last: Promise<Project | undefined> = Promise.resolve(undefined);
  /** The watchdogs of the runs that this process supervises, once it has supervised one. */
  watchdogs: Watchdogs | undefined;
  /** The sandboxes that wait for its next runs, once it has supervised one. */
  standbys: Standbys | undefined;

  /** Sequential, so that concurrent requests share what the first of them has read. */
  open(place: ProjectPlace): Promise<Project> {
    const before = this.#last;
    const opened = before.then((last) => openProject(place, last));
    this.#last = opened.catch(() => before);
    return opened;
  }
}
