import type { Interrupts } from '../cli/dialog/interrupts.ts';
import type { Project } from '../core/project/open-project.ts';
import type { ProjectCache } from '../core/project/project-cache.ts';
import type { ProjectServices } from '../core/project/runner-services.ts';
import type { ToolEntry } from '../core/registry/registry.ts';
import { type ErrorInfo, errorInfo } from '../protocol/error-codes.ts';
import type { Surfaces } from './surfaces.ts';

export type { Project } from '../core/project/open-project.ts';

/** What every operation is given, for one command or one request. The project is opened when it is first asked for, and only then. */
export class AcorApp {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupts: Interrupts;
  /** What can be served from here; undefined for a caller that is a server itself, or a test. */
  readonly surfaces: Surfaces | undefined;
  readonly #note: (line: string) => void;
  readonly #projects: ProjectCache | undefined;
  #project: Promise<Project> | undefined;
  readonly #tools = new Map<string, Promise<ToolEntry>>();
  #codes: Readonly<Record<string, ErrorInfo>> = {};

  /** `note` writes a line for people to stderr; `projects` is what a process keeps that serves many requests. */
  constructor(options: {
    cwd: string;
    env: AcorApp['env'];
    interrupts: Interrupts;
    note?: (line: string) => void;
    surfaces?: Surfaces | undefined;
    projects?: ProjectCache;
  }) {
    this.cwd = options.cwd;
    this.env = options.env;
    this.interrupts = options.interrupts;
    this.#note = options.note ?? (() => {});
    this.surfaces = options.surfaces;
    this.#projects = options.projects;
  }

  project(): Promise<Project> {
    this.#project ??= this.#open();
    return this.#project;
  }

  /** What a run needs. The process adopts the orphans of its tools, so that none of them escapes. */
  async services(): Promise<ProjectServices> {
    const [project, { runnerServices }] = await Promise.all([
      this.project(),
      import('../core/project/runner-services.ts'),
    ]);
    return runnerServices(project, { env: this.env, adoptOrphans: true });
  }

  /** The tool of the project that this request is about, looked up once. Throws E_TOOL_NOT_FOUND or E_MANIFEST_INVALID. */
  tool(name: string): Promise<ToolEntry> {
    let tool = this.#tools.get(name);
    if (tool === undefined) {
      tool = this.project().then(({ registry }) => registry.find(name));
      this.#tools.set(name, tool);
    }
    return tool;
  }

  /**
   * Reads the project's own error codes, for `errorInfo`. Call it once something has failed: what goes well needs none. A file of codes that is
   * invalid leaves the built-in ones (`acor validate` reports it).
   */
  async readErrorCodes(): Promise<void> {
    if (this.#project === undefined) return;
    try {
      this.#codes = await (await this.#project).registry.errorCodes();
    } catch {}
  }

  /** The row of a code, the project's own codes first. */
  errorInfo(code: string): ErrorInfo | undefined {
    return errorInfo(code, this.#codes);
  }

  async #open(): Promise<Project> {
    const place = { cwd: this.cwd, env: this.env };
    const { openProject } = await import('../core/project/open-project.ts');
    const project = await (this.#projects?.open(place) ?? openProject(place));
    for (const warning of project.config.warnings) this.#note(`acor: ${warning}`);
    return project;
  }
}
