import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, TestProject } from '../support/project.ts';

const BUN = join(ROOT, 'node_modules', '.bin', 'bun');
/** Prints the modules of the program that were loaded, one a line. */
const PRELOAD = `import { writeSync } from 'node:fs';
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file.startsWith(${JSON.stringify(join(ROOT, 'src'))}));
  writeSync(2, files.join('\\n'));
});
`;

/** The files below src/ that a warm command loads. */
function filesOf(project: TestProject, args: readonly string[]): string[] {
  const preload = project.path('preload.ts');
  project.write('preload.ts', PRELOAD);
  const run = () =>
    spawnSync(BUN, ['--preload', preload, join(ROOT, 'src', 'cli', 'main.ts'), ...args], {
      cwd: project.root,
      env: project.environment({ ACOR_HOST: 'off' }),
      encoding: 'utf8',
    });
  run();
  const { stdout, stderr } = run();
  assert.match(stdout, /^\{"ok":true/);
  return stderr.split('\n').map((file) => file.slice(join(ROOT, 'src').length + 1));
}

describe('the code that a command loads', () => {
  it('is none of the store, the runner and the sandbox for `acor list`, nor of what reads a manifest', () => {
    using project = new TestProject({ tools: ['quick'] });
    const others = /^core\/(store-files|run|process|sandbox|supervision|plugins)\/|^protocol\/manifest/;
    assert.deepEqual(
      filesOf(project, ['list']).filter((file) => others.test(file)),
      [],
    );
    // The control: a command that looks at runs loads the store.
    assert.ok(filesOf(project, ['runs']).some((file) => file.startsWith('core/store-files/')));
  });
});
