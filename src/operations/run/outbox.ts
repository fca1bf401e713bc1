import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { OperationContext } from '../../compose/operation.ts';
import { Deliverer, type Delivery } from '../../core/outbox/deliver.ts';
import { receiversOf, sendTest } from '../../core/outbox/receivers.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';

/** Longer than a receiver needs to restart. After that the next run, or `acor serve`, continues. */
const KEEP_TRYING_MS = 5 * 60_000;

export const outboxDeliver = acorOperation({
  name: 'outbox.deliver',
  summary:
    'Deliver the messages about runs that no receiver has taken yet (`notify`, `telemetry`), or test the receivers.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    test: z.boolean().default(false).describe('Send a test message to every receiver instead.'),
    keep_trying: z
      .boolean()
      .default(false)
      .describe('Try again for up to five minutes, and leave the rest to the next run or to the server.'),
    dry_run: z.boolean().default(false).describe('Send nothing; only list the receivers.'),
  }),
  output: z.object({
    receivers: z.array(
      z.object({
        target: z
          .string()
          .describe(
            'The host or the program; where several have the same, with its place in the configuration.',
          ),
        on: z.array(z.string()),
        failed: z.int().describe('How often in a row it has not taken a message.'),
        error: z.string().nullable(),
      }),
    ),
    sent: z.array(
      z.object({
        run_id: z.string(),
        type: z.string(),
        receiver: z.string(),
        error: z.string().nullable().describe('Null when the receiver took it.'),
      }),
    ),
    dry_run: z.boolean(),
  }),
  list: 'receivers',
  example: 'acor outbox',
  moreExamples: ['acor outbox --test'],
  async run({ test, keep_trying, dry_run }, ctx) {
    const sent = dry_run ? [] : await (test ? sendTests(ctx) : deliver(keep_trying, ctx));
    const { config, workspaces } = await ctx.app.project();
    const { OutboxFiles } = await import('../../core/outbox/outbox-files.ts');
    const states = new OutboxFiles(workspaces.root).receivers();
    const receivers = receiversOf(config).map(({ id, target, on }) => ({
      target,
      on: [...on],
      failed: states[id]?.failed ?? 0,
      error: states[id]?.error ?? null,
    }));
    const data = { receivers, sent, dry_run };
    const refused = sent.filter(({ error }) => error !== null);
    if (!test || refused.length === 0) return { kind: 'data', data };
    const each = refused.map((one) => `${one.receiver} did not take the test: ${one.error}`).join('; ');
    const error = new AppError('E_NOT_READY', each, {
      hint: 'Correct the receivers under notify: and telemetry: in the configuration, or start what they name.',
    });
    return { kind: 'failure', error, data };
  },
});

async function deliver(keepsTrying: boolean, ctx: OperationContext<AcorApp>): Promise<Delivery[]> {
  const sent: Delivery[] = [];
  const deliverer = new Deliverer({
    open: () => ctx.app.projectNow(),
    env: ctx.env,
    signal: ctx.signal,
    onDelivery: (delivery) => sent.push(delivery),
  });
  if (keepsTrying) await deliverer.until(KEEP_TRYING_MS);
  else if ((await deliverer.once()) === null)
    ctx.app.warn('another process delivers the messages of this project; it tries again now');
  return sent;
}

async function sendTests(ctx: OperationContext<AcorApp>): Promise<Delivery[]> {
  const { config } = await ctx.app.tools();
  const message = {
    id: `test_${Date.now()}`,
    type: 'test',
    timestamp: new Date().toISOString(),
    data: { project: config.config.project.name },
  } as const;
  return Promise.all(
    receiversOf(config).map(async (receiver) => {
      const error = await sendTest(receiver, message, { root: config.root, env: ctx.env }).then(
        () => null,
        (thrown: unknown) => errorMessage(thrown),
      );
      return { run_id: '', type: message.type, receiver: receiver.target, error };
    }),
  );
}
