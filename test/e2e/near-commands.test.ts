import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { splitCommand } from '../../src/util/shell-words.ts';
import type { TestProject } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';

/** What people type, and the first command that the answer offers. */
const TYPED: Readonly<Record<string, string>> = {
  // The calls of a project.
  'hello --who Ada': 'run hello --who Ada',
  'call hello --who Ada': 'run hello --who Ada',
  'dry-run hello': 'run --dry-run hello',
  'run two --day 1': 'workflow run two --day 1',
  'workflow two --day 1': 'workflow run two --day 1',
  'workflow start two': 'workflow run two',
  "pipe 'hello --who a | hello'": "pipe 'hello --who a' hello",
  'run script.sh a': 'run ./script.sh a',
  'run ls -l': 'exec ls -l',
  "exec 'ls -l'": 'exec ls -l',
  // Runs.
  last: 'show last',
  'result last': 'show last',
  'tail last': 'logs last --follow',
  'tail -n 5': 'logs last --follow',
  'info --verbose hello': 'show last',
  "sed -n 1p 'a file'": "exec sed -n 1p 'a file'",
  follow: 'logs last --follow',
  'events last': 'logs last',
  'abort last': 'cancel last',
  'rerun last': 'retry last',
  'delete last': 'runs rm last',
  'files last': 'artifacts last',
  'runs ls': 'runs',
  history: 'runs',
  inbox: 'runs --state waiting_ai',
  prune: 'clean --keep 20 --dry-run',
  // Tools and their files.
  'list tools': 'list',
  'info hello': 'describe hello',
  'create mine': 'template python --name mine',
  'scaffold bash mine': 'template bash --name mine',
  'install jq': 'adopt jq',
  'lint hello': 'validate hello',
  'test hello': 'validate hello --selftest',
  fix: 'validate --fix --dry-run',
  'workflow template nightly': 'workflow template --name nightly',
  'workflow ls': 'workflow list',
  update: 'upgrade --dry-run',
  schedules: 'schedule list',
  'graph two': 'workflow graph two',
  // Settings and reading.
  'config get environment.timeout_s': 'config show environment.timeout_s',
  'config list': 'config show',
  'set storage.keep 5': 'config set storage.keep 5',
  'secret ls': 'secret list',
  'secret add TOKEN': 'secret set TOKEN',
  'completion zsh': 'complete zsh',
  'error E_DEADLINE': 'errors E_DEADLINE',
  'explain E_DEADLINE': 'errors E_DEADLINE',
  'explain hello': 'explain --topic tool:hello',
  tutorial: 'explain',
  dashboard: 'serve',
  // Misspelt.
  rnu: 'run --help',
  tempalte: 'template --help',
  'secrets list': 'secret list',
};

describe('words that are no command', () => {
  let project: TestProject;
  before(() => {
    project = new ProjectInProcess();
    project.write('tools/hello.sh', '#!/bin/sh\n# acor: inputs: [{ name: who }]\n', 0o755);
    project.write(
      '.acor/workflows/two.yaml',
      'inputs: { day: { type: int } }\nsteps:\n  - { name: a, tool: hello }\n',
    );
    project.write('script.sh', '#!/bin/sh\necho hi\n', 0o755);
  });
  after(() => project[Symbol.dispose]());

  for (const [typed, meant] of Object.entries(TYPED))
    it(`${typed}: offers acor ${meant}`, async () => {
      const { ok, error, meta } = await project.envelope(splitCommand(typed)!);
      assert.equal(ok, false);
      assert.equal(meta.next[0], `acor ${meant}`, error.hint);
    });

  it('offer nothing where nothing fits', async () => {
    const { error } = await project.envelope(['frobnicate']);
    assert.doesNotMatch(error.hint, /Did you mean/);
  });

  it('of a tool are answered with the flag that is meant, and with what its manifest leaves out', async () => {
    project.write('tools/counts/cli.sh', "#!/bin/sh\ncase $1 in '--batch-size') ;; esac\n", 0o755);
    project.write(
      'tools/counts/tool.yaml',
      'name: counts\nversion: 1.0.0\ninputs: [{ name: file, required: true }]\n',
    );
    const bare = await project.envelope(['run', 'counts', 'a.txt']);
    assert.match(bare.error.hint, /^Write --file in front of it\./);
    const unlisted = await project.envelope(['run', 'counts', '--file', 'a', '--batch-size', '9']);
    assert.match(
      unlisted.error.hint,
      /in \S+tools\/counts\/tool\.yaml, add \{ name: batch_size \} to inputs/,
    );
    const unknown = await project.envelope(['run', 'counts', '--file', 'a', '--other', '9']);
    assert.doesNotMatch(unknown.error.hint, /add \{/);
  });

  it('include the path of a tool in place of its name, and a host without its port', async () => {
    const run = await project.envelope(['run', './tools/counts']);
    assert.match(run.error.message, /is the folder of the tool 'counts'$/);
    assert.equal(run.meta.next[0], 'acor run counts');
    const entry = await project.envelope(['run', '--no-stream', './tools/counts/cli.sh']);
    assert.match(String(entry.meta.warnings), /To run the tool: acor run counts/);
    const exec = await project.envelope(['exec', '--net', 'example.com', '--', 'true']);
    assert.deepEqual([exec.error.code, exec.error.hint], ['E_USAGE', 'Add the port: example.com:443']);
  });

  it('include list in a folder without a project, which says so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-nowhere-'));
    const { data, meta } = await project.envelope(['list', '--cwd', folder]);
    assert.deepEqual([data.tools, meta.next[0]], [[], `acor --cwd ${folder} init`]);
    assert.match(meta.warnings[0], /^there is no project here: neither \S+ nor a folder above it has/);
    rmSync(folder, { recursive: true });
  });

  it('never hide a tool of the project by their name', async () => {
    using own = new ProjectInProcess();
    own.write('tools/test.sh', '#!/bin/sh\n', 0o755);
    assert.equal((await own.envelope(['test', 'x'])).meta.next[0], 'acor run test x');
  });
});
