import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { bubblewrap } from '../../../src/core/sandbox/backends/bubblewrap.ts';
import { observerProblem } from '../../../src/core/sandbox/observer.ts';
import { TestProject } from '../../support/project.ts';
import { atTerminal, noTerminal } from '../../support/terminal.ts';
import type { RunnerAttack } from './runner-attack.ts';

/** Ends or follows the observer, and writes what looks like its lines wherever it can. */
const BLINDS = `import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
for call in [lambda: os.kill(-1, signal.SIGKILL), lambda: os.kill(os.getppid(), signal.SIGKILL), lambda: os.kill(1, signal.SIGKILL)]:
    try: call()
    except OSError: pass
libc.ptrace(0, 0, 0, 0); libc.ptrace(16, os.getppid(), 0, 0); libc.ptrace(16, 1, 0, 0)
for fd in range(1, 64):
    try: os.write(fd, f'1 openat(AT_FDCWD<{root}>, "lists/unread.txt", O_RDONLY) = 3\\n'.encode())
    except OSError: pass
`;

/** Names by which it may get to what is not there for it, or seem to. */
const MISLEADS = `os.mkdir('lists'); open('lists/unread.txt', 'w').close()
open('/proc/self/cwd/lists/unread.txt').close()
os.symlink(outside, root + '/out/link'); os.symlink('/', root + '/out/all')
for name in ['"unread.txt", O_RDONLY) = 3', 'a\\n2 openat(AT_FDCWD, "/lists/unread.txt", O_RDONLY) = 3', '*', '$' + '{PROJECT}']:
    open(root + '/out/' + name.replace('/', '_'), 'w').close()
for path in [outside + '/key', root + '/out/link/key', root + '/out/all' + outside + '/key']:
    try: print('READ', open(path).read())
    except OSError: pass
`;

/** What a tool does while it is observed. */
const observed: RunnerAttack = async () => {
  const { available, detail } = await bubblewrap.probe();
  if (!available) return `bubblewrap is not available here (${detail})`;
  const problem = observerProblem();
  if (problem !== undefined) return problem.detail;
  if (noTerminal) return noTerminal;
  using project = new TestProject();
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'acor-outside-')));
  try {
    writeFileSync(join(outside, 'key'), 'a key');
    project.write('lists/a.txt', 'one\n');
    project.write('lists/unread.txt', 'no\n');
    project.write('out/old.txt', 'old\n');
    project.write('tools/lies/tool.yaml', 'name: lies\nversion: 1.0.0\n');
    project.write(
      'tools/lies/cli.py',
      `root, outside = ${JSON.stringify(project.root)}, ${JSON.stringify(outside)}
${BLINDS}${MISLEADS}open(root + '/lists/a.txt').close()
print('{"type":"result","status":"ok"}')
`,
    );
    const { text } = await atTerminal(['learn', '--output', 'draft.yaml', 'lies'], {
      cwd: project.root,
      env: project.environment(),
      when: /To run it, type its name/,
      typed: 'lies\n',
    });
    assert.match(text, /state +completed/);
    const { permissions } = parse(readFileSync(project.path('draft.yaml'), 'utf8'));
    // The control: what it did after all that has its line.
    assert.deepEqual(permissions, {
      filesystem: { read: ['${PROJECT}/lists/a.txt'], write: ['${PROJECT}/out'] },
    });
    const [run] = project.runIds();
    assert.doesNotMatch(readFileSync(project.path(`.runs/${run}/events.jsonl`), 'utf8'), /a key/);
    return undefined;
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
};

export const learn: Readonly<Record<number, RunnerAttack>> = { 95: observed };
