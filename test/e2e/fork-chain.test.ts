import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const isLinux = process.platform === 'linux';

/** Each process starts the next one in a session of its own, leaves a mark, and exits. */
const CHAIN = `#!/bin/sh
perl -e 'use POSIX;
  while (1) {
    my $next = fork; next unless defined $next; exit if $next;
    setsid();
    open my $file, ">>", $ARGV[0] or exit; syswrite $file, "$$\\n";
    select undef, undef, undef, 0.001;
  }' "$PWD/chain" </dev/null >/dev/null 2>&1 &
until [ -s chain ]; do :; done
echo '{"type":"result","status":"ok"}'
`;

describe('a tool without a sandbox', { skip: !isLinux && 'adopts orphans on Linux' }, () => {
  it('leaves no process that forks and exits again and again', async () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    project.write('tools/chain/tool.yaml', 'name: chain\nversion: 1.0.0\ndescription: Forks.\n');
    project.write('tools/chain/cli.sh', CHAIN, 0o755);
    for (let round = 0; round < 5; round++) {
      const { end } = await project.run(['chain']);
      assert.deepEqual([end.state, end.survivors], ['completed', []]);
      const marks = project.path('.runs', String(end.run_id), 'work', 'chain');
      const before = statSync(marks).size;
      await project.acor(['runs']);
      assert.equal(statSync(marks).size, before, readFileSync(marks, 'utf8').slice(-40));
    }
  });
});
