import { type Call, callOperation } from '../compose/call-operation.ts';
import type { Envelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import type { Operation } from '../compose/operation.ts';
import { AcorApp, type Authorize, type Principal } from './acor-app.ts';
import { acorCli } from './acor-cli.ts';
import type { OperationName } from './command-forms.ts';
import { ProjectCache, SupervisorPool } from './project-cache.ts';

/** A call after another one starts no program of ACOR. */
const MAX_FREE_SUPERVISORS = 2;

type Env = Readonly<Record<string, string | undefined>>;

interface HostOptions {
  cwd: string;
  env: Env;
  surface: AcorApp['surface'];
  authorize?: Authorize | undefined;
}

/**
 * The project of a server. Each request opens it through the cache, which checks its files, so that a change is visible
 * at once.
 */
export class ProjectHost {
  readonly cli = acorCli();
  readonly env: Env;
  readonly #options: HostOptions;
  readonly #projects = new ProjectCache();
  readonly #launcher: SupervisorPool;

  constructor(options: HostOptions) {
    this.env = options.env;
    this.#options = options;
    this.#launcher = new SupervisorPool(options.env, { maxFree: MAX_FREE_SUPERVISORS, spare: true });
  }

  /** The project for one request of a principal; `env` is added to the server's own environment. */
  openFor(principal: Principal, env: Env = {}): OpenHost {
    const { cwd, authorize } = this.#options;
    return this.#open({ cwd, env: { ...this.env, ...env }, principal, authorize });
  }

  /** The project for a run that a schedule starts. What the server offers to its clients does not restrict it; the policy does. */
  openForSchedule({ name, cwd, by }: { name: string; cwd: string; by: Principal }): OpenHost {
    return this.#open({ cwd, env: this.env, principal: by, schedule: name });
  }

  #open(
    place: Pick<AcorApp, 'cwd' | 'env' | 'principal'> & {
      authorize?: Authorize | undefined;
      schedule?: string;
    },
  ): OpenHost {
    const app = new AcorApp({
      ...place,
      routes: this.cli.routes,
      surface: this.#options.surface,
      projects: this.#projects,
      launcher: this.#launcher,
    });
    return new OpenHost(this, app, place.env);
  }

  /** Runs that were started continue. */
  close(): void {
    this.#launcher.close();
  }

  /** An operation by its name. */
  load(operation: OperationName): Promise<Operation<AcorApp>> {
    return this.cli.routes.find((each) => each.operation === operation)!.load();
  }
}

/** The project for one request of one caller. */
export class OpenHost {
  readonly app: AcorApp;
  readonly #host: ProjectHost;
  readonly #env: Env;

  constructor(host: ProjectHost, app: AcorApp, env: Env) {
    this.#host = host;
    this.app = app;
    this.#env = env;
  }

  /** Calls an operation by its name. Never throws: the envelope contains the error. */
  async call(
    operation: OperationName,
    input: Readonly<Record<string, unknown>>,
    options: Pick<Call<AcorApp>, 'signal' | 'selection' | 'onEvents' | 'onDocument'>,
  ): Promise<Envelope<NextStep>> {
    const op = await this.#host.load(operation);
    const selection = { ...options.selection };
    if (selection.maxTokens === undefined) selection.limit ??= op.pageSize;
    const call = { context: this.app, cwd: this.app.cwd, env: this.#env, ...options, selection };
    const envelope = await callOperation(this.#host.cli, op, input, call);
    const { ACOR_LOG: log } = this.#env;
    if (log) {
      const { logCall } = await import('./call-log.ts');
      logCall(log, op, input, this.app, envelope);
    }
    return envelope;
  }
}
