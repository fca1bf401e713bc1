import assert from 'node:assert/strict';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Exit } from '../../process/runtime.ts';

import type { LaunchSteps } from './launch-steps.ts';
import { Launcher } from './launcher.ts';

const EXIT: Exit = { rc: 0, signal: null, usage: { cpu_s: 1, max_rss_bytes: 1 } };
const FAILED = (words: string) => new AcorError('E_SANDBOX_UNAVAILABLE', `failed: ${words}`);

describe('the launcher of a tool', () => {
  let folder: string;
  let status: number;
  const launchers: Launcher[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-launcher-'));
  });
  afterEach(() => {
    for (const each of launchers.splice(0)) each.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function launcher(
    options: Partial<ConstructorParameters<typeof Launcher>[1]> = {},
    more: Partial<LaunchSteps> = {},
  ): Launcher {
    const steps: LaunchSteps = {
      ...{ argv: ['/bin/true'], env: {}, cwd: '/', user: null, limits: [], landlock: null },
      ...{ filter: new Uint8Array(), stays: 'init', ...more },
    };
    const made = new Launcher(
      steps,
      { stdout: 'pipe', stderr: 'pipe', scratch: folder, ...options },
      process.arch === 'arm64' ? 'arm64' : 'x64',
      (use, text) => {
        const path = join(folder, use);
        writeFileSync(path, text);
        const fd = openSync(path, 'r+');
        if (use === 'status') status = fd;
        return fd;
      },
    );
    launchers.push(made);
    return made;
  }

  it('reports to a descriptor of its own where the tool has a pipe of the runtime, else to its streams', () => {
    const streamsOf = (stdout: number | 'pipe', stderr: number | 'pipe') => {
      const { streams } = launcher({ stdout, stderr });
      return [streams.stdout, streams.stderr, streams.fds];
    };
    assert.deepEqual(streamsOf('pipe', 'pipe'), ['pipe', 'pipe', [status]]);
    assert.deepEqual(streamsOf(10, 'pipe'), [10, 'pipe', [status]]);
    assert.deepEqual(streamsOf('pipe', 11), ['pipe', 11, [status]]);
    assert.deepEqual(streamsOf(10, 11), [status, status, [10, 11]]);
    const { streams } = launcher({ stdin: 12, groups: [13, 14] });
    assert.deepEqual(streams.fds, [status, 12, 13, 14]);
    assert.match(readFileSync(join(folder, 'orders'), 'utf8'), /__END__/);
  });

  it('says how the tool ended, what it used, and how many processes it left', () => {
    const ended = (words: string, exit: Exit = EXIT) => {
      const made = launcher();
      writeSync(status, words);
      return made.settle(exit, FAILED);
    };
    const usage = { cpu_s: 0.25, max_rss_bytes: 2048 * 1024 };
    assert.deepEqual(ended('up\nended 1792 250000 2048\nleft 3\n'), {
      exit: { rc: 7, signal: null, usage },
      left: 3,
    });
    assert.deepEqual(ended('up\nended 9 250000 2048\n'), {
      exit: { rc: null, signal: 'SIGKILL', usage },
      left: 0,
    });
    // It was killed with its tool, before it could say anything of it.
    const killed = ended('up\n', { ...EXIT, rc: null, signal: 'SIGKILL' });
    assert.deepEqual(killed.exit.usage, { cpu_s: null, max_rss_bytes: null });
  });

  it('says why the tool could not be started', () => {
    const thrown = (words: string, exit: Exit = EXIT) => {
      const made = launcher();
      writeSync(status, words);
      assert.throws(() => made.settle(exit, FAILED), AcorError);
      try {
        made.settle(exit, FAILED);
      } catch (error) {
        return (error as AcorError).message;
      }
      return '';
    };
    assert.equal(thrown('bwrap: no namespaces\n', { ...EXIT, rc: 1 }), 'failed: bwrap: no namespaces');
    assert.match(thrown('up\nchanged /srv/in\n'), /\/srv\/in/);
    assert.match(thrown('up\ncannot-start 2\n'), /\/bin\/true/);
  });
});
