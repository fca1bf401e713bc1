import * as z from 'zod';
import { nearest } from '../../util/nearest.ts';
import { AppError } from '../app-error.ts';
import type { CliApp } from '../cli-app.ts';
import { type HealthCheck, healthReport, reportAnswer } from '../health-shape.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { configInputs } from './config.ts';
import { READS } from './reads.ts';

export function healthCommand<C>(
  app: CliApp<C>,
  checks: ((context: C) => Promise<HealthCheck[]> | HealthCheck[]) | undefined,
) {
  return defineOperation({
    ...READS,
    name: 'system.health',
    summary: 'Check that everything is there, with a fix for what is missing.',
    input: z.object({}),
    output: healthReport,
    list: 'checks',
    example: `${calledAs(app)} health`,
    run: async (_input, { app: context, cwd, env }: { app: C; cwd: string; env: Env }) => {
      const own = (await checks?.(context)) ?? [];
      return reportAnswer([...(await configChecks(app, { cwd, env })), ...own]);
    },
  });
}

type Env = Record<string, string | undefined>;

/** Whether the configuration files can be read and have known keys; nothing where no command reads them. */
async function configChecks<C>(app: CliApp<C>, io: { cwd: string; env: Env }): Promise<HealthCheck[]> {
  const known = (await configInputs(app)).map(({ config }) => config);
  if (known.length === 0) return [];
  const name = 'configuration';
  try {
    const keys = (await app.layers?.(io))?.keys() ?? [];
    // The value of a key may be an object, and its fields are no keys of their own.
    const unknown = keys.filter(({ key }) => !known.some((each) => `${key}.`.startsWith(`${each}.`)));
    const [first] = unknown;
    if (first === undefined) {
      const files = new Set(keys.map(({ source }) => source));
      return [{ name, status: 'ok', detail: files.size === 0 ? 'no file' : [...files].join(', ') }];
    }
    const meant = nearest(first.key, known);
    const fix = `Remove ${first.key} from ${first.source}${meant === undefined ? '' : `, or write ${meant}`}`;
    return [{ name, status: 'degraded', detail: `${first.source} has the unknown key ${first.key}`, fix }];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [{ name, status: 'blocked', detail: error.message, ...(error.hint && { fix: error.hint }) }];
  }
}
