import { agentOf } from '../compose/audience.ts';
import { type Call, callOperation } from '../compose/call-operation.ts';
import type { Envelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import type { Operation } from '../compose/operation.ts';
import { safeLine } from '../compose/terminal-text.ts';
import { AcorApp, type Authorize, type Principal } from '../operations/acor-app.ts';
import { acorCli } from '../operations/acor-cli.ts';
import type { OperationName } from '../operations/command-forms.ts';
import { ProjectCache, SupervisorPool } from '../operations/project-cache.ts';

/** The caller: the client's capabilities, and the trace of its call. */
export interface Caller {
  name: string | undefined;
  traceparent: string | undefined;
}

const MAX_NAME_CHARS = 100;
/** A call after another one starts no program but its tool. */
const MAX_FREE_SUPERVISORS = 2;

/**
 * The project of a server. Each request opens it through the cache, which checks its files, so that a change is visible
 * at once.
 */
export class Host {
  readonly cli = acorCli();
  readonly #projects = new ProjectCache();
  readonly #launcher: SupervisorPool;
  readonly #cwd: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #authorize: Authorize | undefined;

  constructor(options: {
    cwd: string;
    env: Readonly<Record<string, string | undefined>>;
    authorize?: Authorize;
  }) {
    this.#cwd = options.cwd;
    this.#env = options.env;
    this.#authorize = options.authorize;
    this.#launcher = new SupervisorPool(options.env, { maxFree: MAX_FREE_SUPERVISORS, spare: true });
  }

  /** The project for one request of a caller. */
  open({ name, traceparent }: Caller): OpenHost {
    const env = {
      ...this.#env,
      ...(name !== undefined && { AI_AGENT: safeLine(name).slice(0, MAX_NAME_CHARS) }),
      ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    };
    const principal: Principal = { kind: 'agent', name: agentOf(env) ?? 'mcp client' };
    const app = new AcorApp({
      routes: this.cli.routes,
      cwd: this.#cwd,
      env,
      principal,
      surface: 'mcp',
      authorize: this.#authorize,
      projects: this.#projects,
      launcher: this.#launcher,
    });
    return new OpenHost(this, app, env);
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
  readonly #host: Host;
  readonly #env: Record<string, string | undefined>;

  constructor(host: Host, app: AcorApp, env: Record<string, string | undefined>) {
    this.#host = host;
    this.app = app;
    this.#env = env;
  }

  /** Calls an operation by its name. Never throws: the envelope contains the error. */
  async call(
    operation: OperationName,
    input: Readonly<Record<string, unknown>>,
    options: Pick<Call<AcorApp>, 'signal' | 'selection' | 'onEvents'>,
  ): Promise<Envelope<NextStep>> {
    const op = await this.#host.load(operation);
    const call = { context: this.app, cwd: this.app.cwd, env: this.#env, ...options };
    return callOperation(this.#host.cli, op, input, call);
  }
}
