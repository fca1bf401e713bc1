import assert from 'node:assert/strict';
import { cpSync, renameSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readRun, TestProject } from '../support/project.ts';

/** Fails as long as the file is not `whole`. */
const CHECKS = `#!/bin/sh
test "$(cat "$1")" = whole
`;
const MANIFEST = `name: checks
version: 1.0.0
adapter: plain
inputs: [{ name: file, type: path, access: read, required: true, positional: true }]
`;
const OUTER = `steps:
  - { name: a, tool: quick }
  - { name: b, workflow: ./inner.yaml }
`;
const INNER = `steps:
  - { name: c, tool: quick }
  - { name: d, tool: checks, args: { file: data.txt } }
`;

function newProject(): TestProject {
  const project = new TestProject({ tools: ['quick'] });
  project.write('tools/checks/main.sh', CHECKS, 0o755);
  project.write('tools/checks/tool.yaml', MANIFEST);
  project.write('workflows/outer.yaml', OUTER);
  project.write('workflows/inner.yaml', INNER);
  project.write('sub/checks.sh', CHECKS, 0o755);
  project.write('sub/data.txt', 'broken');
  return project;
}

/** Runs a command below a project, which fails there. Returns its run. */
async function failedRun(project: TestProject, command: readonly string[]): Promise<string> {
  const { end, code } = await readRun(await project.acor(command, { cwd: project.path('sub') }));
  assert.equal(code, 1, command.join(' '));
  await project.supervisorsExited();
  return String(end.run_id);
}

const MOVES = {
  moved: renameSync,
  copied: (from: string, to: string) => cpSync(from, to, { recursive: true }),
};

for (const [how, move] of Object.entries(MOVES))
  describe(`in a project that was ${how}`, () => {
    it('a workflow continues with its file and its steps, in the folder where it began', async () => {
      using original = newProject();
      const run = await failedRun(original, ['workflow', 'run', 'outer']);
      using project = new TestProject();
      rmSync(project.root, { recursive: true });
      move(original.root, project.root);
      project.write('sub/data.txt', 'whole');
      assert.equal((await project.envelope(['resume', run, '--dry-run'])).data.cwd, project.path('sub'));
      assert.equal((await project.envelope(['resume', run, '--no-stream'])).code, 0);
      const of = (tool: string) =>
        project.runIds().filter((id) => project.events(id)[0]?.['tool'] === tool).length;
      assert.deepEqual([of('workflow:inner'), of('quick'), of('checks')], [1, 2, 2]);
      assert.equal((await project.envelope(['verify'])).code, 0);
    });

    it('a tool, a file and a program are repeated as they are there, in the folder where they began', async () => {
      using original = newProject();
      const runs: string[] = [];
      for (const command of [
        ['run', 'checks', 'data.txt'],
        ['run', './checks.sh', 'data.txt'],
        ['exec', '--read', '.', '--', './checks.sh', 'data.txt'],
      ])
        runs.push(await failedRun(original, command));
      using project = new TestProject();
      rmSync(project.root, { recursive: true });
      move(original.root, project.root);
      project.write('sub/data.txt', 'whole');
      for (const run of runs) {
        for (const command of [
          ['replay', run, '--execute', '--no-stream'],
          ['retry', run, '--no-stream'],
        ])
          assert.equal((await project.envelope(command)).code, 0, command.join(' '));
      }
      assert.equal((await project.envelope(['verify'])).code, 0);
    });
  });
