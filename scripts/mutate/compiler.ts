import { join } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/async';

/** The TypeScript compiler on one copy of the project. It stays loaded, so that a changed file is checked in a moment. */
export class Compiler {
  readonly #root: string;
  readonly #api: API;

  constructor(root: string) {
    this.#root = root;
    this.#api = new API({ cwd: root });
  }

  async sourceFile(path: string): Promise<SourceFile> {
    const program = await this.#program();
    const file = await program.getSourceFile(join(this.#root, path));
    if (file === undefined) throw new Error(`${path} is not part of the project of tsconfig.json`);
    return file;
  }

  /** The first error that the compiler reports for `path` and for the files that import it; undefined without one. */
  async errorIn(path: string, importers: readonly string[]): Promise<string | undefined> {
    const program = await this.#program(path);
    for (const each of [path, ...importers]) {
      const file = join(this.#root, each);
      const [error] = [
        ...(await program.getSyntacticDiagnostics(file)),
        ...(await program.getSemanticDiagnostics(file)),
      ];
      if (error !== undefined) return error.text;
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.close();
  }

  async #program(changed?: string) {
    const snapshot = await this.#api.updateSnapshot({
      openProjects: [join(this.#root, 'tsconfig.json')],
      ...(changed !== undefined && { fileChanges: { changed: [join(this.#root, changed)] } }),
    });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error(`no tsconfig.json in ${this.#root}`);
    return project.program;
  }
}
