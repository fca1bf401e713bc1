import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exceptionLine } from './exception-line.ts';

describe('the line that names why a program failed', () => {
  it('is found in what each language writes', () => {
    for (const line of [
      "KeyError: 'x'",
      'json.decoder.JSONDecodeError: Expecting value',
      'KeyboardInterrupt',
      'Error [ERR_MODULE_NOT_FOUND]: Cannot find module',
      'Uncaught TypeError: x is not a function',
      'Error: no such table',
      'Exception in thread main java.lang.IllegalStateException: broken',
      'cli.sh: line 3: foo: command not found',
      'cli.sh: 3: foo: not found',
      'cli.sh: 3: Syntax error: end of file unexpected',
      'panic: runtime error',
      'fatal error: all goroutines are asleep',
      "Can't locate X.pm in @INC at cli.pl line 3.",
    ])
      assert.equal(exceptionLine(`first\n${line}\n  at somewhere\n`), line);
  });

  it('is the last one, without the folder of a script', () => {
    assert.equal(exceptionLine('ValueError: one\nValueError: two\nbye'), 'ValueError: two');
    assert.equal(exceptionLine('/long/way/cli.sh: line 3: foo: not there'), 'cli.sh: line 3: foo: not there');
    assert.equal(exceptionLine('/long/way/cli.sh: 3: foo: not found'), 'cli.sh: 3: foo: not found');
  });

  it('has the message of a Rust panic, which is on the next line', () => {
    const panic = "thread 'main' panicked at src/main.rs:2:5:";
    assert.equal(exceptionLine(`${panic}\nindex out of bounds\nnote: run`), `${panic} index out of bounds`);
    assert.equal(exceptionLine(panic), panic);
    assert.equal(exceptionLine("thread 'main' is busy\nit panicked at noon"), undefined);
  });

  it('is cut when it is long, and other text has no exception line', () => {
    assert.equal(exceptionLine(`Error: ${'x'.repeat(400)}`), `Error: ${'x'.repeat(293)}`);
    for (const text of ['', 'all went well', 'an error occurred', 'error: lower case', 'a note: 3: found'])
      assert.equal(exceptionLine(text), undefined, text);
  });
});
