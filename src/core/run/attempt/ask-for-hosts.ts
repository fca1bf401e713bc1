import { errorMessage } from '../../../util/error-code.ts';
import { addToList } from '../../config/add-to-list.ts';
import { agentsMay } from '../../guard/agents-may.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import { withPort } from '../../sandbox/egress/host.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';

/** Each question interrupts a person, and a tool can invent any number of hosts. */
const MAX_QUESTIONS = 20;
const MAX_WAIT_S = 3600;
/** Of the time that is left to the run: after a late no the tool must still be able to end in order. */
const MAX_SHARE = 0.8;

/**
 * Asks whether the tool may connect to hosts that its manifest does not name, while its connections wait. Each host is asked for once in a
 * run, whatever the number of connections. Policies decide first: no answer opens what they refuse.
 */
export class HostQuestions {
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

  ask(options: AttemptOptions, host: string, port: number): Promise<boolean> {
    const name = withPort(host, port);
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    if (this.#asked >= MAX_QUESTIONS) {
      this.#warnOfTooMany();
      return Promise.resolve(false);
    }
    const number = ++this.#asked;
    const answer = this.#put(options, name, number).catch((error) => {
      this.#warn(`the question for ${name} could not be asked: ${errorMessage(error)}`);
      return false;
    });
    this.#answers.set(name, answer);
    return answer;
  }

  async #put(options: AttemptOptions, name: string, number: number): Promise<boolean> {
    const { tool, guard } = this.#plan;
    if (!(await guard.allowsHost(name))) return false;
    const { config } = this.#services;
    const isAgents = await agentsMay('allow_host', { root: config.root, env: this.#plan.callerEnv });
    const file = tool.hasHeader ? null : tool.manifestPath;
    const answer = await options.questions.askForRunner(
      {
        type: 'action_required',
        action: 'allow_host',
        action_id: `acor-${options.number}-${number}`,
        msg: `May the tool '${tool.name}' connect to ${name}? Its manifest does not name this host.`,
        context: { host: name, tool: tool.name },
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
    if (answer === undefined) this.#answers.delete(name);
    if (answer === 'manifest' && file !== null) await this.#keep(file, name);
    return answer === 'run' || answer === 'manifest';
  }

  #waitS({ leftMs }: AttemptOptions): number {
    const { answer_timeout_s: limitS } = this.#services.config.config.environment;
    return Math.max(0.001, Math.min(limitS, MAX_WAIT_S, (leftMs() / 1000) * MAX_SHARE));
  }

  /** The connection is open in any case; a manifest that cannot be changed is a warning. */
  async #keep(file: string, name: string): Promise<void> {
    try {
      await addToList(file, ['permissions', 'network', 'egress_allow'], name);
      this.#writer.log.append({
        type: 'runner_log',
        level: 'info',
        msg: `${name} is in egress_allow of ${file} now`,
      });
    } catch (error) {
      this.#warn(`${name} could not be added to ${file}: ${errorMessage(error)}`);
    }
  }

  #warnOfTooMany(): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    this.#warn(
      `the tool has asked for ${MAX_QUESTIONS} hosts already; further ones are refused without a question`,
    );
  }

  #warn(msg: string): void {
    this.#writer.log.append({ type: 'runner_warning', code: 'E_POLICY_DENIED', msg });
  }
}
