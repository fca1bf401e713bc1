// Speaks the protocol: one JSON object a line on stdout. stderr is for people.
import { args, checkCancel, emitError, emitProgress, emitResult, emitStart } from 'acor/tool';
import { greeting } from './greeting.ts';

const EXIT_FATAL = 30;

if (process.argv.includes('--selftest')) selftest();
else greet(args<{ who: string; times: number }>());

function greet({ who, times }: { who: string; times: number }): void {
  emitStart('greet', { who, times });
  const greetings: string[] = [];
  for (let done = 1; done <= times; done++) {
    checkCancel();
    greetings.push(greeting(who));
    emitProgress('greet', (100 * done) / times, `${done} of ${times}`);
  }
  emitResult({ data: { greetings } });
}

function selftest(): void {
  if (greeting('x') === 'Hello, x!') {
    emitResult({ data: { selftest: 'ok' } });
    return;
  }
  emitError('E_TOOL_FAILED', 'the greeting is wrong', { hint: 'Fix greeting.ts.' });
  process.exitCode = EXIT_FATAL;
}
