import { callOperation } from '../compose/call-operation.ts';
import type { Envelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import type { Operation } from '../compose/operation.ts';
import type { Selection } from '../compose/select.ts';
import { safeLine } from '../compose/terminal-text.ts';
import { AcorApp } from '../operations/acor-app.ts';
import { acorCli } from '../operations/acor-cli.ts';
import type { OperationName } from '../operations/command-forms.ts';
import { Interrupts } from '../operations/run/interrupts.ts';

/** Who calls: what the client says of itself, and the trace that its call belongs to. */
export interface Caller {
  name: string | undefined;
  traceparent: string | undefined;
}

const MAX_NAME_CHARS = 100;

/** The project behind a server. It is opened anew for each request, so that a change of its files counts at once. */
export class Host {
  readonly cli = acorCli(new Interrupts());
  readonly #cwd: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(options: { cwd: string; env: Readonly<Record<string, string | undefined>> }) {
    this.#cwd = options.cwd;
    this.#env = options.env;
  }

  /** The project for one request of a caller. */
  open({ name, traceparent }: Caller): OpenHost {
    const env = {
      ...this.#env,
      ...(name !== undefined && { AI_AGENT: safeLine(name).slice(0, MAX_NAME_CHARS) }),
      ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
    };
    return new OpenHost(this, new AcorApp({ cwd: this.#cwd, env, interrupts: new Interrupts() }), env);
  }

  /** An operation by its name. */
  load(operation: OperationName): Promise<Operation<AcorApp>> {
    return this.cli.routes.find((each) => each.operation === operation)!.load();
  }
}

/** The project as one request of one caller sees it. */
export class OpenHost {
  readonly app: AcorApp;
  /** By which name answers of this caller are recorded. */
  readonly by: string;
  readonly #host: Host;
  readonly #env: Record<string, string | undefined>;

  constructor(host: Host, app: AcorApp, env: Record<string, string | undefined>) {
    this.#host = host;
    this.app = app;
    this.#env = env;
    this.by = env['AI_AGENT'] ?? 'mcp client';
  }

  /** Calls an operation by its name. Never throws: what went wrong is in the envelope. */
  async call(
    operation: OperationName,
    input: Readonly<Record<string, unknown>>,
    options: { signal: AbortSignal; selection?: Partial<Selection> },
  ): Promise<Envelope<NextStep>> {
    const op = await this.#host.load(operation);
    const call = { context: this.app, cwd: this.app.cwd, env: this.#env, ...options };
    return callOperation(this.#host.cli, op, input, call);
  }
}
