import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOverLimit, refusedLimit } from './over-limit.ts';

const limits = { cpu_seconds: 2, processes: 8, open_files: 64, file_mb: 10, disk_mb: 100 };
const failed = { rc: 1, signal: null };

function codeOf(...facts: Parameters<typeof refusedLimit>): string | undefined {
  const over = refusedLimit(...facts);
  return over && describeOverLimit(over).code;
}

describe('a failure by a limit of the kernel', () => {
  it('is known by the signal of it, from the tool itself or from its shell', () => {
    assert.equal(codeOf({ rc: null, signal: 'SIGXFSZ' }, '', limits), 'E_FILE_SIZE_LIMIT');
    assert.equal(codeOf({ rc: 153, signal: null }, '', limits), 'E_FILE_SIZE_LIMIT');
    assert.equal(codeOf({ rc: null, signal: 'SIGXCPU' }, '', limits), 'E_CPU_LIMIT');
    assert.equal(codeOf({ rc: null, signal: 'SIGSEGV' }, '', limits), undefined);
  });

  it('is known by what programs say of it', () => {
    const said: [string, string][] = [
      ["OSError: [Errno 24] Too many open files: 'f'", 'E_OPEN_FILES_LIMIT'],
      ["Error: EMFILE: too many open files, open 'f'", 'E_OPEN_FILES_LIMIT'],
      ['cli.sh: fork: retry: Resource temporarily unavailable', 'E_PROCESS_LIMIT'],
      ['sh: 1: Cannot fork', 'E_PROCESS_LIMIT'],
      ["RuntimeError: can't start new thread", 'E_PROCESS_LIMIT'],
      ['Error: spawn sh EAGAIN', 'E_PROCESS_LIMIT'],
      ['OSError: [Errno 27] File too large', 'E_FILE_SIZE_LIMIT'],
    ];
    for (const [words, code] of said) assert.equal(codeOf(failed, `before\n${words}\n`, limits), code, words);
  });

  it('is not seen in other words, nor where there is no such limit', () => {
    assert.equal(codeOf(failed, 'read: Resource temporarily unavailable', limits), undefined);
    assert.equal(codeOf(failed, 'Too many open files', { memory_mb: 1 }), undefined);
  });

  it('is the limit of the disk where files have none of their own', () => {
    assert.equal(codeOf({ rc: null, signal: 'SIGXFSZ' }, '', { disk_mb: 100 }), 'E_DISK_LIMIT');
  });

  it('says what was said, what is allowed, and what to write to allow more', () => {
    const { message, hint } = describeOverLimit(refusedLimit(failed, 'x: Too many open files', limits)!);
    assert.equal(
      message,
      "the tool failed with 'x: Too many open files'; the limit is 64 open files in each process",
    );
    assert.match(hint, /resources: \{ open_files: 128 \}/);
  });
});
