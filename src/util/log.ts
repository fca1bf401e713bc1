import { closeSync, openSync, writeSync } from 'node:fs';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes a line. Never put the input of a call or the output of a tool into `fields`: they may hold secrets. */
export type Log = (
  level: LogLevel,
  msg: string,
  fields?: Readonly<Record<string, string | number | boolean | null | undefined>>,
) => void;

/** What `ACOR_LOG` says: a level, and where lines of at least that level go. Undefined for any other text. */
export function readLogSpec(spec: string): { level: LogLevel; file: string | null } | undefined {
  const [, level, file] = /^([a-z]+)(?::(\/.+))?$/.exec(spec) ?? [];
  const found = LOG_LEVELS.find((each) => each === level);
  return found === undefined ? undefined : { level: found, file: file ?? null };
}

/**
 * The log of this program by `ACOR_LOG`: JSON lines on standard error, or appended to a file, which the processes of a project can share. A log
 * that cannot be written is lost and disturbs nothing.
 */
export function openLog(spec: string): Log {
  const { level: least, file } = readLogSpec(spec) ?? { level: 'info' as const, file: null };
  return (level, msg, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
    const line = `${JSON.stringify({ ts: new Date().toISOString(), level, pid: process.pid, msg, ...fields })}\n`;
    let fd = 2;
    try {
      // Opened for each line, so that a program may rotate the file.
      if (file !== null) fd = openSync(file, 'a', 0o600);
      writeSync(fd, line);
    } catch {
    } finally {
      if (fd !== 2) closeSync(fd);
    }
  };
}
