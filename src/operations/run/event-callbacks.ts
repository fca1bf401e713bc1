import { CallbackError, Callbacks } from '../../core/outbox/callback.ts';
import { signedHeaders } from '../../core/outbox/send-webhook.ts';
import {
  type Subscription,
  SubscriptionFiles,
  type SubscriptionProgress,
} from '../../core/outbox/subscription-files.ts';
import type { AcorApp } from '../acor-app.ts';

export { CallbackError, type Subscription, type SubscriptionFiles, type SubscriptionProgress };

/** Where clients may have events of runs sent, for a server that delivers them. */
export interface EventCallbacks {
  files: SubscriptionFiles;
  /** Undefined where the configuration allows none. */
  callbacks: Callbacks | undefined;
}

/** As the configuration of the project is now. */
export async function eventCallbacks(app: AcorApp): Promise<EventCallbacks> {
  const { config, workspaces } = await app.project();
  const { security } = config.config;
  return {
    files: new SubscriptionFiles(workspaces.root),
    callbacks: security.webhook_hosts.length === 0 ? undefined : new Callbacks(security),
  };
}

/** Sends a body to a callback, signed for its subscriber; returns what the receiver answered. Throws CallbackError. */
export function sendToCallback(
  callbacks: Callbacks,
  { id, url, secret, previous }: Subscription,
  messageId: string,
  body: object,
): Promise<string> {
  const text = JSON.stringify(body);
  const isRotating = previous !== undefined && previous.untilMs > Date.now();
  const keys = [secret, ...(isRotating ? [previous.secret] : [])].map((each) => Buffer.from(each));
  const headers = { ...signedHeaders(messageId, text, keys), 'X-MCP-Subscription-Id': id };
  return callbacks.post(url, text, headers);
}
