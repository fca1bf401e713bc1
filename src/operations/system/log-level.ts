import { AcorError } from '../../protocol/acor-error.ts';
import { LOG_LEVELS, type LogLevel, readLogSpec } from '../../util/log.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The environment of a server with the level of --log-level, which wins over that of ACOR_LOG. Throws E_USAGE for an invalid ACOR_LOG. */
export function withLogLevel(env: Env, level: LogLevel | undefined): Record<string, string | undefined> {
  const { ACOR_LOG: spec } = env;
  const given = spec ? readLogSpec(spec) : undefined;
  if (spec && given === undefined)
    throw new AcorError('E_USAGE', `ACOR_LOG is ${JSON.stringify(spec)}`, {
      hint: `Set it to ${LOG_LEVELS.join(', ')}, or to a level and the absolute path of a file: info:/var/log/acor.jsonl`,
    });
  if (level === undefined) return { ...env };
  return { ...env, ACOR_LOG: given?.file == null ? level : `${level}:${given.file}` };
}
