import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Message } from './message.ts';
import { subjectOf, textOf } from './message-text.ts';
import { runCommand } from './run-command.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Where systems keep it that do not have it on the PATH. */
const FOLDERS = ['/usr/sbin', '/usr/lib'];
const LINE_CHARS = 76;

/** Gives a message to the mail system by `sendmail`, which queues it and tries again by itself. Throws when it does not take it. */
export async function sendMail(
  { to, from }: { to: readonly string[]; from?: string | undefined },
  message: Message,
  { cwd, env }: { cwd: string; env: Env },
): Promise<void> {
  const headers = [
    `To: ${to.join(', ')}`,
    ...(from === undefined ? [] : [`From: ${from}`]),
    `Subject: ${encodedWord(subjectOf(message))}`,
    `Date: ${new Date(message.timestamp).toUTCString().replace('GMT', '+0000')}`,
    // The same at each try, so that a mail system can drop the second one.
    `Message-ID: <${message.id}@acor.invalid>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
  ];
  const body = Buffer.from(textOf(message)).toString('base64');
  const lines = body.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? [];
  await runCommand([sendmailOf(env), '-t', '-i'], `${[...headers, '', ...lines].join('\n')}\n`, { cwd, env });
}

function sendmailOf(env: Env): string {
  const folders = [...(env['PATH'] ?? '').split(delimiter).filter(Boolean), ...FOLDERS];
  return folders.map((folder) => join(folder, 'sendmail')).find((file) => existsSync(file)) ?? 'sendmail';
}

/** A text of a tool as one header: RFC 2047 in pieces that no line of a header exceeds. */
function encodedWord(text: string): string {
  if (/^[\x20-\x7e]{0,60}$/.test(text)) return text;
  const pieces = [...text].reduce<string[]>(
    (all, char) => {
      if (Buffer.byteLength(all.at(-1)! + char) > 42) all.push('');
      all[all.length - 1] += char;
      return all;
    },
    [''],
  );
  return pieces.map((piece) => `=?utf-8?B?${Buffer.from(piece).toString('base64')}?=`).join('\n ');
}
