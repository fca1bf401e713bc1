import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestProject } from './project.ts';

const AGENT = join(import.meta.dirname, '..', 'fixtures', 'executors', 'scripted-agent.sh');

/** What an agent does and prints in one turn. */
export interface ScriptedTurn {
  /** Objects become lines of JSON; a text stays unchanged. */
  prints?: string | readonly object[];
  /** In `sh`, in the project's folder. */
  does?: string;
}

/** A project whose executors of tasks are real programs that follow a script. */
export class TaskProject extends TestProject {
  readonly #executor: string;
  /** Of the user who runs ACOR, apart from the project. */
  readonly home = mkdtempSync(join(tmpdir(), 'acor-home-'));

  constructor(executor: string, turns: readonly ScriptedTurn[], config = `task: { executor: ${executor} }`) {
    super({ config: `version: 1\nenvironment: { cancel_grace_s: 0.3 }\n${config}\n` });
    this.#executor = executor;
    mkdirSync(this.path('bin'));
    for (const name of [executor, 'agent']) {
      copyFileSync(AGENT, this.path('bin', name));
      chmodSync(this.path('bin', name), 0o755);
    }
    this.write('src/form.txt', 'a form\n');
    turns.forEach(({ prints, does }, index) => {
      const text =
        typeof prints === 'string' ? prints : prints?.map((each) => `${JSON.stringify(each)}\n`).join('');
      if (text !== undefined) this.write(`turns/${index + 1}.out`, text);
      if (does !== undefined) this.write(`turns/${index + 1}.sh`, does);
    });
  }

  /** With the agents on the PATH, and a home of one's own. */
  get env(): Record<string, string> {
    const { home } = this;
    return {
      PATH: `${this.path('bin')}:${process.env['PATH']}`,
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
    };
  }

  /** The words with which the agent was called for the nth time. */
  call(n: number): string[] {
    return readFileSync(join(this.agentHome, `call-${n}`), 'utf8')
      .split('\0')
      .slice(0, -1);
  }

  get agentHome(): string {
    const tasks = join(this.home, 'state', 'acor', 'tasks');
    const [project] = readdirSync(tasks);
    return join(tasks, project!, this.#executor);
  }

  get sessions(): Record<string, string> {
    const [file] = readdirSync(join(this.runsDir, 'tasks')).filter((name) => name.endsWith('.json'));
    return JSON.parse(readFileSync(join(this.runsDir, 'tasks', file!), 'utf8')).sessions;
  }

  override [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
    super[Symbol.dispose]();
  }
}
