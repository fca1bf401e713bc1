import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TestProject, until } from '../support/project.ts';

const CONFIG = {
  version: 1,
  notify: [{ program: ['./fails.sh'], on: ['end'] }],
  task: { executor: { command: ['./agent.sh'] } },
};
const RESULT = '{"type":"result","status":"ok","metrics":{"cost_usd":0.5}}';

/** The files and folders of a store that other users can read, by their place; of a folder that is closed nothing in it. */
function openIn(folder: string, path = ''): string[] {
  return readdirSync(join(folder, path)).flatMap((name) => {
    const at = join(path, name);
    const stats = lstatSync(join(folder, at));
    if ((stats.mode & 0o055) === 0) return [];
    return [at, ...(stats.isDirectory() ? openIn(folder, at) : [])];
  });
}

describe('the store', () => {
  it('shows other users the ledger, who works and the cached tools, and nothing else of the runs', async () => {
    using project = new TestProject({ config: JSON.stringify(CONFIG), isTrusted: true });
    project.write('tools/costs/cli.sh', `#!/bin/sh\necho '${RESULT}'\n`, 0o755);
    project.write('fails.sh', '#!/bin/sh\nexit 1\n', 0o755);
    project.write('agent.sh', '#!/bin/sh\necho "[CODEX_COMPLETE] done"\n', 0o755);
    // As an earlier build has made it.
    mkdirSync(join(project.runsDir, 'outbox'), { recursive: true });
    chmodSync(join(project.runsDir, 'outbox'), 0o755);
    const acor = async (...args: string[]) => {
      const argv = ['-c', 'umask 0; exec "$@"', 'sh', project.program, ...args];
      const { stdout } = await project.startProgram('sh', argv).finished;
      assert.equal(JSON.parse(stdout).ok, true, stdout);
    };
    await acor('task', 'write', 'Go', '--no-stream');
    await acor('run', 'costs', '--no-stream', '--idempotency-key', 'once');
    await until(() => readdirSync(join(project.runsDir, 'outbox')).includes('receivers.json'));
    await acor('runs');
    await acor('clean', '--keep', '1', '--pack');
    await acor('runs', 'rm', 'last');
    await acor('run', 'costs', '--no-stream');

    const found = readdirSync(project.runsDir);
    for (const name of ['outbox', 'tasks', 'keys', 'packs', 'removed-costs', 'index.sqlite'])
      assert.ok(found.includes(name), name);
    const shared =
      /^(?:\.gitignore|ledger\.jsonl|removed-counts\.json|(?:cache|leases|queue|removed)(?:\/.*)?)$/;
    assert.deepEqual(
      openIn(project.runsDir).filter((path) => !shared.test(path)),
      [],
    );
  });
});
