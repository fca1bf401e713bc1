#!/usr/bin/env node
// Speaks the protocol: one JSON object a line on stdout. stderr is for people.
import { args, checkCancel, emitError, emitProgress, emitResult, emitStart } from 'acor/tool';
import { greeting } from './greeting.mjs';

const EXIT_FATAL = 30;

if (process.argv.includes('--selftest')) selftest();
else greet(args());

function greet({ who, times }) {
  emitStart('greet', { who, times });
  const greetings = [];
  for (let done = 1; done <= times; done++) {
    checkCancel();
    greetings.push(greeting(who));
    emitProgress('greet', (100 * done) / times, `${done} of ${times}`);
  }
  emitResult({ data: { greetings } });
}

function selftest() {
  if (greeting('x') === 'Hello, x!') {
    emitResult({ data: { selftest: 'ok' } });
    return;
  }
  emitError('E_TOOL_FAILED', 'the greeting is wrong', { hint: 'Fix greeting.mjs.' });
  process.exitCode = EXIT_FATAL;
}
