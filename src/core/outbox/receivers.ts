import { resolve } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { storeSecret } from '../../protocol/next-steps.ts';
import type { NotifyEvent, Receiver } from '../../protocol/notify-config.ts';
import { newSha256 } from '../../util/sha256.ts';
import type { LoadedConfig } from '../config/load.ts';
import { bodyOf, type Message } from './message.ts';
import type { SentRun, TraceTarget } from './telemetry/export-run.ts';

/** The root of the project, and the environment. */
interface Place {
  root: string;
  env: Readonly<Record<string, string | undefined>>;
}

const DEFAULT_EVENTS: readonly NotifyEvent[] = ['question', 'failure', 'budget'];

/** What a receiver of the outbox is sent: messages, or the spans of an ended run. */
export type OutboxEvent = NotifyEvent | 'trace';

/** A configured receiver, as the outbox keeps its state. */
export interface KnownReceiver extends Omit<Receiver, 'on'> {
  /** From what it is, so that it stays the same when others are added. */
  id: string;
  on: readonly OutboxEvent[];
  /** It gets spans, and no messages. */
  telemetry?: TraceTarget;
  /**
   * For people: where it sends to, without what may be a secret: the rest of an address, and the arguments of a program. Those that would be
   * the same have their place in the configuration behind it.
   */
  target: string;
}

/** The receivers that the configuration names, each once. */
export function receiversOf({ config }: Pick<LoadedConfig, 'config'>): KnownReceiver[] {
  const all = config.notify.map((receiver, index): PlacedReceiver => {
    const { program, webhook, mail } = receiver;
    const target = program?.[0] ?? (webhook && originOf(webhook.url)) ?? `mail to ${mail?.to.join(', ')}`;
    const id = newSha256()
      .update(JSON.stringify([program, webhook?.url, mail?.to, receiver.after_s]))
      .digest('hex')
      .slice(0, 12);
    return { ...receiver, id, target, on: receiver.on ?? DEFAULT_EVENTS, place: `notify[${index}]` };
  });
  const { endpoint, authorization, file } = config.telemetry;
  if (endpoint !== undefined) all.push(traceReceiver(originOf(endpoint), { endpoint, authorization }));
  if (file !== undefined) all.push(traceReceiver(file, { file }));
  const receivers = eachOnce(all);
  return receivers.map(({ place, ...receiver }) => {
    const isAlone = receivers.filter(({ target }) => target === receiver.target).length === 1;
    return isAlone ? receiver : { ...receiver, target: `${receiver.target} (${place})` };
  });
}

/** Whether the project names receivers that have no effect, because no person has trusted them. */
export function hasUntrustedReceivers({ trust: { isTrusted, widenings } }: LoadedConfig): boolean {
  return !isTrusted && widenings.some(({ key }) => key === 'notify' || key.startsWith('telemetry.'));
}

/** A receiver that is configured twice gets the events of both. */
function eachOnce(all: readonly PlacedReceiver[]): PlacedReceiver[] {
  const found = new Map<string, PlacedReceiver>();
  for (const receiver of all) {
    const first = found.get(receiver.id);
    const merged = first && { ...first, on: [...new Set([...first.on, ...receiver.on])] };
    found.set(receiver.id, merged ?? receiver);
  }
  return [...found.values()];
}

interface PlacedReceiver extends KnownReceiver {
  /** Where the configuration has it. */
  place: string;
}

function originOf(address: string): string {
  return new URL(address).origin;
}

function traceReceiver(target: string, telemetry: TraceTarget): PlacedReceiver {
  const id = newSha256().update(JSON.stringify(telemetry)).digest('hex').slice(0, 12);
  return { id, on: ['trace'], target, telemetry, place: 'telemetry' };
}

/** Sends the spans of an ended run. Throws when the collector does not take them. */
export async function sendSpans(
  target: TraceTarget,
  run: SentRun,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { exportRun } = await import('./telemetry/export-run.ts');
  return exportRun(await withKey(target, run.root, env), run);
}

/** Sends a test to a receiver: to a collector, a request without spans. Throws when the receiver does not take it. */
export async function sendTest(receiver: KnownReceiver, message: Message, place: Place): Promise<void> {
  if (receiver.telemetry === undefined) return sendTo(receiver, message, place);
  const { exportNothing } = await import('./telemetry/export-run.ts');
  return exportNothing(await withKey(receiver.telemetry, place.root, place.env), place.root);
}

/** The target with the value of its secret. */
async function withKey(target: TraceTarget, root: string, env: Place['env']): Promise<TraceTarget> {
  if ('file' in target || target.authorization === undefined) return target;
  const key = await secretOf(target.authorization, root, env);
  return { ...target, authorization: key.toString().trim() };
}

/** Sends a message. Throws when the receiver does not take it. */
export async function sendTo(
  { program, webhook, mail }: Pick<Receiver, 'program' | 'webhook' | 'mail'>,
  message: Message,
  { root, env }: Place,
): Promise<void> {
  if (webhook !== undefined) {
    const { sendWebhook } = await import('./send-webhook.ts');
    const key = await secretOf(webhook.secret, root, env);
    await sendWebhook(webhook.url, key, message);
  } else if (mail !== undefined) {
    const { sendMail } = await import('./send-mail.ts');
    await sendMail(mail, message, { cwd: root, env });
  } else {
    const [first, ...args] = program!;
    const { runCommand } = await import('./run-command.ts');
    const command = first!.includes('/') ? resolve(root, first!) : first!;
    await runCommand([command, ...args], `${bodyOf(message)}\n`, { cwd: root, env });
  }
}

async function secretOf(
  name: string,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Buffer> {
  const { SecretStore } = await import('../secrets/secret-store.ts');
  const value = new SecretStore(root, env).read(name);
  if (value !== undefined) return value;
  throw new AcorError('E_ENV_MISSING', `there is no secret '${name}'`, {
    hint: 'Store the key of the receiver.',
    next: [storeSecret(name)],
  });
}
