import { openProject, type Project, type ProjectPlace } from './open-project.ts';

/**
 * The project of a process that serves many requests. Each request opens it: the files are checked, and only what has changed is read
 * again, so that the very next request sees a change.
 */
export class ProjectCache {
  #last: Promise<Project | undefined> = Promise.resolve(undefined);

  /** One opening after the other, so that requests at the same time share what the first of them has read. */
  open(place: ProjectPlace): Promise<Project> {
    const before = this.#last;
    const opened = before.then((last) => openProject(place, last));
    this.#last = opened.catch(() => before);
    return opened;
  }
}
