import { existsSync, readFileSync } from 'node:fs';
import { type Event, type Running, readRun, TestProject, until, WITHOUT_SANDBOX } from './project.ts';

/** A project whose tools leave notes of what they have done. */
export class WorkflowProject extends TestProject {
  constructor(tools: readonly string[] = []) {
    super({ tools: ['notes_work', ...tools], config: WITHOUT_SANDBOX });
  }

  /** What the steps have noted, in this order; `begin …` when they came to work. */
  notes(): string[] {
    const path = this.path('notes');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** What they have noted of work that was done, sorted. */
  done(): string[] {
    return this.notes()
      .filter((line) => !line.startsWith('begin '))
      .sort();
  }

  /** `tool` and `args` of a step that leaves a note. */
  noting(say: string, more: Record<string, string> = {}): { tool: string; args: Record<string, string> } {
    return { tool: 'notes_work', args: { say, notes: this.path('notes'), ...more } };
  }

  /** Writes a workflow, and returns its path. */
  workflow(content: Record<string, unknown>, name = 'flow.json'): string {
    return this.write(name, JSON.stringify(content));
  }

  async flow(content: Record<string, unknown>, args: readonly string[] = []) {
    return readRun(await this.acor(['workflow', 'run', this.workflow(content), ...args]));
  }

  startFlow(content: Record<string, unknown>, args: readonly string[] = []): Running {
    const running = this.start(['workflow', 'run', this.workflow(content), ...args]);
    running.child.stdin!.end();
    return running;
  }

  /** The run of the workflow that was begun first. */
  flowId(): string {
    return this.runIds().find((id) => this.whole(id)?.kind === 'workflow')!;
  }

  /** The run of a task, once there is one. */
  async child(taskId: string): Promise<string> {
    let found: string | undefined;
    await until(() => {
      found = this.runIds().find((id) => this.whole(id)?.parent?.task_id === taskId);
      return found !== undefined;
    });
    return found!;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the record holds
  whole(runId: string): any {
    try {
      return JSON.parse(readFileSync(this.path('.runs', runId, 'metadata.json'), 'utf8'));
    } catch {
      return undefined;
    }
  }

  async noted(line: string): Promise<void> {
    await until(() => this.notes().includes(line));
  }
}

/** The ends of tasks as `task status`, in the order of the log. */
export function endsOf(events: readonly Event[]): string[] {
  return events
    .filter(({ type }) => type === 'task_done')
    .map(({ task_id, status }) => `${task_id} ${status}`);
}
