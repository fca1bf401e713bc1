import { Cron } from 'croner';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { CronTrigger } from './schedule.ts';

/** The times of a cron expression, as milliseconds since 1970. */
export class CronTimes {
  readonly #cron: Cron;

  /** Throws E_USAGE for an invalid expression or time zone. */
  constructor({ cron, timezone }: Pick<CronTrigger, 'cron' | 'timezone'>) {
    checkTimezone(timezone);
    try {
      this.#cron = new Cron(cron, { timezone, paused: true, mode: '5-or-6-parts' });
    } catch (error) {
      const fields = cron.trim().split(/\s+/).length;
      // The package names numbers of fields that it reads in other modes.
      const isCounted = fields === 5 || fields === 6 || cron.trim().startsWith('@');
      const why = isCounted
        ? errorMessage(error).replace(/^CronPattern: /, '')
        : `it has ${fields} ${fields === 1 ? 'field' : 'fields'}, not 5 or 6`;
      throw new AcorError('E_USAGE', `the cron expression ${JSON.stringify(cron)} is invalid: ${why}`, {
        hint: "Write minute, hour, day of the month, month and day of the week: '30 3 * * mon-fri' is 3:30 on working days. A sixth field in front is seconds.",
      });
    }
  }

  /** The first time after a moment; undefined when there is none. */
  after(ms: number): number | undefined {
    return this.#cron.nextRun(new Date(ms))?.getTime();
  }

  /** The last times before a moment, at most `count`, in their order. */
  before(ms: number, count: number): number[] {
    return this.#cron
      .previousRuns(count, new Date(ms))
      .map((time) => time.getTime())
      .reverse();
  }
}

/** The time zone of this machine. */
export function localTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw new AcorError('E_USAGE', `there is no time zone ${JSON.stringify(timezone)}`, {
      hint: 'Use a name of the IANA time zone database, such as Europe/Berlin, or UTC.',
    });
  }
}
