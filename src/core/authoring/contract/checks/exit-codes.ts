import { isBlocked } from '../blocked.ts';
import { brokenBy, type Check, evidenceOf, finding, nameOf, notJudged } from '../finding.ts';
import { callsFor } from '../observe.ts';

export const exitSuccess: Check = {
  rule: 'exit-success',
  judge(observed) {
    const calls = callsFor(observed, 'help', 'version').filter(({ trouble }) => trouble === null);
    if (observed.surface.root === null || calls.length === 0) return notJudged('the program prints no help');
    const failed = calls.filter(({ rc, args }) => rc !== 0 && isAnswered(observed.surface.asked, args));
    return brokenBy([
      failed.length === 0
        ? undefined
        : finding({
            rule: 'exit-success',
            severity: 'medium',
            message: `a call that prints what it was asked for exits with another code than 0: ${failed.map(({ args }) => args.join(' ')).join(', ')}`,
            evidence: failed.map((call) => evidenceOf(observed.program, call, 'exit')),
            fix: 'Exit with 0 for --help and --version.',
          }),
    ]);
  },
};

/** `--version` is only called where the help has it, and `--help` may be unknown to a program that has `-h`. */
function isAnswered(asked: readonly string[][], args: readonly string[]): boolean {
  return args[0] === '--version' || asked.length > 0;
}

export const exitUsage: Check = {
  rule: 'exit-usage',
  judge(observed) {
    const calls = callsFor(observed, 'unknown-option', 'unknown-command').filter(
      ({ trouble }) => trouble === null,
    );
    if (calls.length === 0) return notJudged('no wrong call ended');
    const ignored = calls.filter(({ rc }) => rc === 0);
    const other = calls.filter(({ rc }) => rc !== 0 && rc !== 1);
    const evidence = (list: typeof calls) => list.map((call) => evidenceOf(observed.program, call, 'exit'));
    return brokenBy([
      ignored.length === 0
        ? undefined
        : finding({
            rule: 'exit-usage',
            severity: 'high',
            message: `a wrong call exits with 0: ${ignored.map(({ args }) => args.join(' ')).join(', ')}`,
            evidence: evidence(ignored),
            fix: 'Refuse options and commands that do not exist, with exit code 1.',
          }),
      other.length === 0
        ? undefined
        : finding({
            rule: 'exit-usage',
            severity: 'medium',
            message: `a wrong call exits with ${[...new Set(other.map(({ rc, signal }) => signal ?? rc))].join(', ')}, not with 1`,
            evidence: evidence(other),
            fix: 'Exit with 1 for a usage error; 2 means that something must be provided first.',
            surface: [
              {
                change: 'change',
                command: '(all commands)',
                what: 'exit with 1 for a usage error',
                breaks: true,
              },
            ],
          }),
    ]);
  },
};

/** To find nothing is an answer of these. */
const SEARCHES =
  /^(?:search|find|grep|query|explain|help|which|log|logs|list|ls|diff|check|verify|validate)$/;

export const exitRuntime: Check = {
  rule: 'exit-runtime',
  judge(observed) {
    const calls = callsFor(observed, 'missing-object').filter(
      (call) => call.trouble === null && !isBlocked(call) && !searches(call.command?.words.at(-1) ?? ''),
    );
    if (calls.length === 0) return notJudged('no call with a missing object could be made');
    const wrong = calls.filter(({ rc }) => rc !== 1);
    return brokenBy([
      wrong.length === 0
        ? undefined
        : finding({
            rule: 'exit-runtime',
            severity: 'medium',
            message: `a call with an object that does not exist exits with ${[...new Set(wrong.map(({ rc, signal }) => signal ?? rc))].join(', ')}, not with 1`,
            commands: wrong.flatMap(({ command }) => (command === null ? [] : [command.words.join(' ')])),
            evidence: wrong.flatMap((call) => [
              evidenceOf(observed.program, call, 'exit'),
              evidenceOf(observed.program, call, call.stderr === '' ? 'stdout' : 'stderr'),
            ]),
            fix: 'Exit with 1 for a failure, and 2 only for a missing prerequisite.',
            surface: [
              {
                change: 'change',
                command: '(all commands)',
                what: 'exit with 1 for a failure',
                breaks: true,
              },
            ],
          }),
    ]);
  },
};

function searches(word: string): boolean {
  return word.split('-').some((part) => SEARCHES.test(part));
}

export const exitBlocked: Check = {
  rule: 'exit-blocked',
  judge(observed) {
    const blocked = callsFor(observed, 'read', 'read-structured', 'given', 'missing-object').filter(
      isBlocked,
    );
    if (blocked.length === 0) return notJudged('no call was blocked in the sandbox');
    const wrong = blocked.filter(({ rc }) => rc !== 2);
    return brokenBy([
      wrong.length === 0
        ? undefined
        : finding({
            rule: 'exit-blocked',
            severity: 'medium',
            message: `a call that a missing prerequisite blocks exits with ${[...new Set(wrong.map(({ rc }) => rc))].join(', ')}, not with 2`,
            commands: [...new Set(wrong.map(({ command, args }) => nameOf(command?.words ?? args)))],
            evidence: wrong.flatMap((call) => [
              evidenceOf(observed.program, call, 'exit'),
              evidenceOf(observed.program, call, call.stderr === '' ? 'stdout' : 'stderr'),
            ]),
            fix: 'Exit with 2 when environment, configuration, credentials or a server are missing.',
            surface: [
              { change: 'change', command: '(all commands)', what: 'exit with 2 when blocked', breaks: true },
            ],
          }),
    ]);
  },
};
