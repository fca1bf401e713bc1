import { openProject, type Project, type ProjectPlace } from './open-project.ts';

/**
 * The project of a process that serves many requests. Each request opens it: files are checked, and only changed ones
 * are read again, so the next request sees every change.
 */
export class ProjectCache {
  #last: Promise<Project | undefined> = Promise.resolve(undefined);

  /** Sequential, so that concurrent requests share what the first of them has read. */
  open(place: ProjectPlace): Promise<Project> {
    const before = this.#last;
    const opened = before.then((last) => openProject(place, last));
    this.#last = opened.catch(() => before);
    return opened;
  }
}
