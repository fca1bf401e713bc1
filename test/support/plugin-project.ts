import { realpathSync } from 'node:fs';
import { ApprovalStore } from '../../src/core/guard/approvals.ts';
import { readPluginFiles } from '../../src/core/plugins/plugin-files.ts';
import { TestProject } from './project.ts';

/** A project with plugins. Its copies and approvals are in its own folder. */
export class PluginProject extends TestProject {
  readonly env: Record<string, string>;

  /** `plugins` are texts of modules by file name, such as `one.ts`; they are in `.acor/plugins/`. */
  constructor(plugins: Readonly<Record<string, string>>, options: { tools?: readonly string[] } = {}) {
    const files = Object.keys(plugins).map((file) => `.acor/plugins/${file}`);
    super({
      ...options,
      config: `version: 1\nenvironment: { cancel_grace_s: 0.3 }\nplugins: ${JSON.stringify(files)}\n`,
    });
    this.env = { XDG_CACHE_HOME: this.path('cache'), XDG_DATA_HOME: this.path('data') };
    for (const [file, text] of Object.entries(plugins)) this.write(`.acor/plugins/${file}`, text);
  }

  /** Approves plugins as they are, as a person would have done by `acor approve`. */
  approve(...files: string[]): void {
    const root = realpathSync(this.root);
    for (const file of files) {
      const { digest, files: digested } = readPluginFiles(this.path('.acor', 'plugins', file), root);
      const tool = `plugin:${file.replace(/\.\w+$/, '')}`;
      const approval = {
        version: 1,
        root,
        tool,
        digest,
        files: digested,
        by: 'ann',
        at: '2026-01-01T00:00:00Z',
      } as const;
      new ApprovalStore(this.env).write(approval);
    }
  }
}
