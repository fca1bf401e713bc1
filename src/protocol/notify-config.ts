import * as z from 'zod';
import { httpAddress } from './http-address.ts';
import { SECRET_NAME, SECRET_NAME_RULE } from './names.ts';

/** What a receiver is sent. A failure is an end, too. */
export const NOTIFY_EVENTS = ['question', 'end', 'failure', 'budget'] as const;

export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

const WAYS = ['program', 'webhook', 'mail'] as const;

const address = z
  .string()
  .regex(/^[^\s@<>,;:"\\]+@[^\s@<>,;:"\\]+$/, 'must be a mail address, such as ada@example.com');
const seconds = z.number().positive();

/** A receiver of notifications (contract §12): a program, a webhook, or mail. */
export const receiver = z
  .strictObject({
    on: z
      .array(z.enum(NOTIFY_EVENTS))
      .min(1)
      .optional()
      .describe('What it is sent; the default is question, failure and budget.'),
    after_s: seconds
      .optional()
      .describe('Escalation: it only gets questions that are still open after so many seconds.'),
    remind_every_s: seconds
      .optional()
      .describe('It gets a question again after so many seconds, as long as the question is open.'),
    program: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('A program and its arguments; it gets JSON on its standard input.'),
    webhook: z
      .strictObject({
        url: httpAddress.describe('The address of the receiver.'),
        secret: z
          .string()
          .regex(SECRET_NAME, SECRET_NAME_RULE)
          .describe('The name of the stored secret with the key of the signatures.'),
      })
      .optional()
      .describe('It gets a POST of JSON, signed as Standard Webhooks says.'),
    mail: z
      .strictObject({
        to: z.array(address).min(1).describe('Who gets the mail.'),
        from: address.optional().describe('By default the mail system decides.'),
      })
      .optional()
      .describe('It gets mail by the program sendmail.'),
  })
  .superRefine((given, context) => {
    const ways = WAYS.filter((way) => given[way] !== undefined);
    if (ways.length === 1) return;
    const message = `a receiver has one of program, webhook and mail, got ${ways.join(' and ') || 'none'}`;
    const params = { rule: 'one-way', fix: 'Write a receiver for each.' };
    context.addIssue({ code: 'custom', message, params });
  });

export type Receiver = z.output<typeof receiver>;
