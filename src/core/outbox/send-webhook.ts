import { createHmac } from 'node:crypto';
import { bodyOf, type Message } from './message.ts';
import { postJson } from './post-json.ts';

const PREFIX = 'whsec_';

/** Sends a message as a Standard Webhook. Throws when the receiver does not take it. */
export async function sendWebhook(url: string, key: Buffer, message: Message): Promise<void> {
  const body = bodyOf(message);
  await postJson(url, body, signedHeaders(message.id, body, [key]));
}

/** The headers of a Standard Webhook, signed with each key: a receiver takes any of them. */
export function signedHeaders(id: string, body: string, keys: readonly Buffer[]): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000);
  return {
    'User-Agent': 'acor',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys.map((key) => signatureOf(id, seconds, body, key)).join(' '),
  };
}

/** The header `webhook-signature`: version 1, HMAC-SHA256. */
function signatureOf(id: string, seconds: number, body: string, key: Buffer): string {
  const mac = createHmac('sha256', signingKey(key)).update(`${id}.${seconds}.${body}`);
  return `v1,${mac.digest('base64')}`;
}

/** The bytes of a key: `whsec_` and base64, as Standard Webhooks writes them, or the secret as it is. */
function signingKey(secret: Buffer): Buffer {
  const text = secret.toString().trim();
  return text.startsWith(PREFIX) ? Buffer.from(text.slice(PREFIX.length), 'base64') : Buffer.from(text);
}
