import type { LaunchRequest, RunLauncher } from '../../src/core/ports/run-launcher.ts';
import { readEvents } from '../../src/core/run/read-log.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { RunRequest } from '../../src/core/run/run-request.ts';
import type { RunSummary } from '../../src/core/run/run-summary.ts';
import type { RunnerServices } from '../../src/core/run/services.ts';
import { startRun } from '../../src/core/run/start-run.ts';
import { prepareOrchestration } from '../../src/core/workflow/prepare-orchestration.ts';
import type { Event } from './project.ts';
import { inlineLauncher, servicesInMemory } from './services-in-memory.ts';
import { WorkflowProject } from './workflow-project.ts';

export interface EndedFlow {
  runId: string;
  summary: RunSummary;
  events: Event[];
  of(type: string): Event[];
  /** The event of this type about a task. */
  task(type: string, taskId: string): Event;
}

/** Workflows and pipes of a project whose runs are supervised in this process, with their logs in memory. Their tools are real processes. */
export class FlowsInMemory {
  readonly project: WorkflowProject;
  readonly services: Awaited<ReturnType<typeof servicesInMemory>>;
  /** What the workflows have asked for, in this order. */
  readonly launched: LaunchRequest[] = [];
  /** Comes before each start of a child, and may start it in another way, or throw. */
  onLaunch: (request: LaunchRequest, start: RunLauncher['start']) => Promise<string> = (request, start) =>
    start(request);

  private constructor(project: WorkflowProject, services: FlowsInMemory['services']) {
    this.project = project;
    this.services = services;
  }

  static async open(tools: readonly string[] = []): Promise<FlowsInMemory> {
    const project = new WorkflowProject(tools);
    return new FlowsInMemory(project, await servicesInMemory(project));
  }

  /** Starts a workflow: its file, or its content. */
  async start(content: Record<string, unknown> | string, more: Partial<RunRequest> = {}): Promise<Run> {
    const path = typeof content === 'string' ? content : this.project.workflow(content);
    return this.startOf({ kind: 'workflow', tool: `workflow:${path}`, args: [], ...more });
  }

  async run(content: Record<string, unknown> | string, more: Partial<RunRequest> = {}): Promise<EndedFlow> {
    return this.ended(await this.start(content, more));
  }

  async pipe(stages: readonly string[], more: Partial<RunRequest> = {}): Promise<EndedFlow> {
    return this.ended(await this.startOf({ kind: 'pipe', tool: 'pipe:x', args: [...stages], ...more }));
  }

  async startOf(call: Partial<RunRequest> & Pick<RunRequest, 'kind' | 'tool' | 'args'>): Promise<Run> {
    return (await startRun(this.#launching(), {
      cwd: this.project.root,
      env: this.project.environment(),
      ...call,
    })) as Run;
  }

  async ended(run: Run): Promise<EndedFlow> {
    const summary = await run.ended;
    const events = await this.events(run.runId);
    const of = (type: string) => events.filter((event) => event.type === type);
    const task = (type: string, taskId: string) => of(type).find(({ task_id }) => task_id === taskId)!;
    return { runId: run.runId, summary, events, of, task };
  }

  async events(runId: string): Promise<Event[]> {
    const found: Event[] = [];
    for await (const event of readEvents(this.services.store, runId, { wait: false }))
      found.push(event as Event);
    return found;
  }

  /** Waits until such an event is in the log of a run, and returns it. */
  async stored(runId: string, isMeant: (event: Event) => boolean): Promise<Event> {
    for await (const event of readEvents(this.services.store, runId, { wait: true }))
      if (isMeant(event as Event)) return event as Event;
    throw new Error(`${runId} ended before such an event`);
  }

  /** The run of the newest try of a task, once it has started. */
  async child(runId: string, taskId: string): Promise<string> {
    const { child_run_id } = await this.stored(
      runId,
      ({ type, task_id }) => type === 'task_started' && task_id === taskId,
    );
    return String(child_run_id);
  }

  [Symbol.dispose](): void {
    this.project[Symbol.dispose]();
  }

  #launching(): RunnerServices {
    return {
      ...this.services,
      prepareOrchestration: (own, request) => prepareOrchestration(own, request, this.#launcher(own)),
    };
  }

  #launcher(own: RunnerServices): RunLauncher {
    const inline = inlineLauncher(own);
    return {
      start: (request) => {
        this.launched.push(request);
        return this.onLaunch(request, inline.start);
      },
      recorded: (runId) => inline.recorded(runId),
      ended: (runId) => inline.ended(runId),
      close: () => inline.close(),
    };
  }
}
