import { lstatSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import { hasMeaning } from '../../../protocol/names.ts';
import type { AgentDecision } from '../../../protocol/policy-file.ts';
import { errorMessage } from '../../../util/error-code.ts';
import { allowInManifest } from '../../config/allow-in-manifest.ts';
import { agentsMay } from '../../guard/agents-may.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { MissingPermission } from '../../registry/missing-permission.ts';
import { withPort } from '../../sandbox/egress/host.ts';
import { cancelledFor, failureOf, type Outcome } from '../outcome.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';

/** Each question interrupts a person, and a tool can invent any number of hosts. */
const MAX_QUESTIONS = 20;
const MAX_WAIT_S = 3600;
/** Of the time that is left to the run: after a late no the tool must still be able to end in order. */
const MAX_SHARE = 0.8;

type PermissionAction = Extract<AgentDecision, `allow_${string}`>;

/** One thing that the tool may not do by its manifest. */
interface Asked {
  action: PermissionAction;
  /** Unique in the run. */
  key: string;
  msg: string;
  context: Readonly<Record<string, unknown>>;
  /** The lines of the manifest that allow it; absent where no manifest can. */
  lines?: { path: readonly string[]; texts: readonly string[] };
}

/**
 * Asks for what the manifest of a tool does not allow: paths and commands of a call before the tool starts, hosts while its connections wait. Each is
 * asked for once in a run. Policies decide first: no answer opens what they refuse.
 */
export class PermissionQuestions {
  readonly #services: RunnerServices;
  readonly #plan: ToolPlan;
  readonly #writer: RunWriter;
  readonly #answers = new Map<string, Promise<boolean>>();
  #asked = 0;
  #isWarned = false;

  constructor(services: RunnerServices, plan: ToolPlan, writer: RunWriter) {
    this.#services = services;
    this.#plan = plan;
    this.#writer = writer;
  }

  /** Whether the tool may connect to a host. All connections to one host wait for one answer. */
  async askForHost(options: AttemptOptions, host: string, port: number): Promise<boolean> {
    const name = withPort(host, port);
    const { tool, guard } = this.#plan;
    return this.#once(options, name, async () => {
      if (!(await guard.allows({ host: name }))) return undefined;
      return {
        action: 'allow_host',
        key: name,
        msg: `May the tool '${tool.name}' connect to ${name}? Its manifest does not name this host.`,
        context: { host: name, tool: tool.name },
        lines: { path: ['permissions', 'network', 'egress_allow'], texts: [name] },
      };
    });
  }

  /** Asks for what the call is known to need, one after the other. Returns the end of the run when the tool must not start. */
  async askBeforeStart(options: AttemptOptions): Promise<Outcome | undefined> {
    const { missing, workspace } = this.#plan;
    let failed: unknown;
    let reason: string | undefined;
    options.questions.begin({
      // No process is there to get an answer.
      deliver() {},
      answerFields: () => ({}),
      onResumed() {},
      onUnanswered() {},
      onFailed(error) {
        failed ??= error;
      },
    });
    const cancelled = options.cancelled.then((given) => {
      reason = given;
      return false;
    });
    try {
      for (const each of missing) {
        const asked = askedFor(each, this.#plan.tool.name);
        const before = identityOf(each);
        const isAllowed = await Promise.race([this.#once(options, asked.key, async () => asked), cancelled]);
        if (reason !== undefined) return cancelledFor(reason);
        if (failed !== undefined) return failureOf(failed, workspace.dir);
        if (!isAllowed) return failureOf(refusal(each), workspace.dir);
        if (identityOf(each) !== before) return failureOf(replaced(each), workspace.dir);
      }
      return undefined;
    } finally {
      await options.questions.end();
    }
  }

  #once(options: AttemptOptions, key: string, find: () => Promise<Asked | undefined>): Promise<boolean> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    if (this.#asked >= MAX_QUESTIONS) {
      this.#warnOfTooMany();
      return Promise.resolve(false);
    }
    const number = ++this.#asked;
    const answer = find()
      .then((asked) => asked !== undefined && this.#put(options, asked, number))
      .catch((error) => {
        this.#warn(`the question for ${key} could not be asked: ${errorMessage(error)}`);
        return false;
      });
    this.#answers.set(key, answer);
    return answer;
  }

  async #put(options: AttemptOptions, asked: Asked, number: number): Promise<boolean> {
    const { tool, callerEnv } = this.#plan;
    const { action, key, msg, context, lines } = asked;
    const isAgents = await agentsMay(action, { root: this.#services.config.root, env: callerEnv });
    const canKeep = !tool.hasHeader && lines !== undefined && !lines.texts.some(hasMeaning);
    const file = canKeep ? tool.manifestPath : null;
    const answer = await options.questions.askForRunner(
      {
        type: 'action_required',
        action,
        action_id: `acor-${options.number}-${number}`,
        msg,
        context,
        options: [
          { id: 'run', label: 'Yes, for this run' },
          ...(file !== null
            ? [{ id: 'manifest', label: 'Yes, and add it to the manifest of the tool' }]
            : []),
          { id: 'no', label: 'No' },
        ],
        default: 'no',
        audience: isAgents ? 'ai' : 'user',
        blocking: true,
      },
      this.#waitS(options),
    );
    // The attempt is over: the next one may ask again.
    if (answer === undefined) this.#answers.delete(key);
    if (answer === 'manifest' && file !== null) await this.#keep(file, lines!);
    return answer === 'run' || answer === 'manifest';
  }

  #waitS({ leftMs }: AttemptOptions): number {
    const { answer_timeout_s: limitS } = this.#services.config.config.environment;
    return Math.max(0.001, Math.min(limitS, MAX_WAIT_S, (leftMs() / 1000) * MAX_SHARE));
  }

  /** The answer holds for this run in any case; a manifest that cannot be changed is a warning. */
  async #keep(file: string, { path, texts }: NonNullable<Asked['lines']>): Promise<void> {
    const names = texts.join(', ');
    const key = path.at(-1)!;
    try {
      await allowInManifest(file, path, texts);
      this.#writer.log.append({
        type: 'runner_log',
        level: 'info',
        msg: `${names} ${texts.length === 1 ? 'is' : 'are'} in ${key} of ${file} now`,
      });
    } catch (error) {
      this.#warn(`${names} could not be added to ${key} of ${file}: ${errorMessage(error)}`);
    }
  }

  #warnOfTooMany(): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    this.#warn(
      `the run has asked for ${MAX_QUESTIONS} permissions already; further ones are refused without a question`,
    );
  }

  #warn(msg: string): void {
    this.#writer.log.append({ type: 'runner_warning', code: 'E_POLICY_DENIED', msg });
  }
}

function askedFor(missing: MissingPermission, tool: string): Asked {
  const { kind, name } = missing;
  if (kind === 'command') {
    const { beside } = missing;
    return {
      action: 'allow_command',
      key: `command ${name}`,
      msg: `May the tool '${tool}' start the program ${name}? Its command line names it, and its permissions do not.`,
      context: { command: name, tool },
      lines: { path: ['permissions', 'commands'], texts: [name, ...beside] },
    };
  }
  const { access, input, isGrant } = missing;
  return {
    action: 'allow_path',
    key: `${access} ${name}`,
    msg: `May the tool '${tool}' ${access} ${name}? '${input}' of this call names it, outside of the folders that ACOR grants.`,
    context: { path: name, access, input, tool },
    ...(isGrant && { lines: { path: ['permissions', 'filesystem', access], texts: [name] } }),
  };
}

/** Which file or folder has the path now: the answer is about this one, and none that takes its place while the question waits. */
function identityOf({ kind, name }: MissingPermission): string {
  if (kind === 'command') return '';
  const stats = lstatSync(name, { throwIfNoEntry: false });
  return stats === undefined ? 'nothing' : `${stats.dev}:${stats.ino}`;
}

function replaced({ name }: MissingPermission): AcorError {
  return new AcorError(
    'E_PERMISSION',
    `another file or folder took the place of ${name} while the question about it waited, so the tool was not started`,
    { hint: 'Look at what is there now, and run the tool again.' },
  );
}

function refusal(missing: MissingPermission): AcorError {
  const { kind, name } = missing;
  if (kind === 'command')
    return new AcorError('E_PERMISSION', `the tool was not allowed to start ${name}, so it was not started`, {
      hint: 'Run it again and let a person allow it, or name the program in permissions.commands of its manifest.',
    });
  const { access, input } = missing;
  return new AcorError(
    'E_PERMISSION',
    `the tool was not allowed to ${access} ${name} ('${input}'), so it was not started`,
    {
      hint: 'Run it again and let a person allow it. Or use a path inside the project, or add its folder to security.grant_roots.',
    },
  );
}
