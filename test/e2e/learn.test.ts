import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { trustedProgram } from '../../src/core/sandbox/trusted-program.ts';
import { TestProject } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const isHere =
  process.platform === 'linux' &&
  typeof trustedProgram('strace') !== 'string' &&
  (await bubblewrap.probe()).available;
const skip = noTerminal || (isHere ? false : 'needs bubblewrap and strace');

let project: TestProject;
beforeEach(() => {
  project = new TestProject();
  project.write('lists/a.txt', 'one\n');
  project.write('lists/unread.txt', 'no\n');
  mkdirSync(project.path('out'));
  project.write('.env', 'KEY=1\n');
  project.write('.secrets/key', 'key\n');
});
afterEach(() => project[Symbol.dispose]());

function addTool(name: string, script: string, manifest = ''): void {
  project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${manifest}`);
  project.write(
    `tools/${name}/cli.py`,
    `import os, subprocess, sys\nroot = ${JSON.stringify(project.root)}\n${script}\nprint('{"type":"result","status":"ok"}')\n`,
  );
}

/** Learns as a person does who types a word at the prompt. Returns what was shown, and the draft. */
async function learn(args: readonly string[], typed: string) {
  const { text } = await atTerminal(['learn', '--output', 'draft.yaml', ...args], {
    cwd: project.root,
    env: { XDG_DATA_HOME: project.path('data') },
    when: /To run it, type its name/,
    typed: `${typed}\n`,
  });
  const file = project.path('draft.yaml');
  const draft = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return { text, draft, permissions: draft && parse(draft).permissions };
}

describe('learning', { skip }, () => {
  it('drafts what a run read, changed and started, and a tool with that draft works', async () => {
    const script = `text = open(root + '/lists/a.txt').read()
open(root + '/out/new.txt', 'w').write(text)
subprocess.run(['perl', '-e', 'exit 0'], check=True)
open('scratch', 'w').write('in the workspace')`;
    addTool('works', script);
    const without = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(without.ok, false, 'the control: without permissions it fails');
    const { draft, permissions, text } = await learn(['works'], 'works');
    assert.deepEqual(
      permissions,
      {
        filesystem: { read: ['${PROJECT}/lists/a.txt'], write: ['${PROJECT}/out'] },
        commands: ['perl'],
      },
      text,
    );
    assert.match(draft!, /lists\/a\.txt # openat of .*lists\/a\.txt/);
    const shown = await project.envelope(['show', 'last']);
    assert.equal(shown.data.undecided.length, 2);
    assert.equal(existsSync(project.path('out/new.txt')), false, 'nothing is in place yet');
    addTool('works', script, draft);
    const run = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(run.data?.state, 'completed', JSON.stringify(run));
    assert.equal(readFileSync(project.path('out/new.txt'), 'utf8'), 'one\n');
  });

  it('needs a person who types the name of the tool', async () => {
    addTool('works', "open(root + '/out/new.txt', 'w').write('x')");
    const refused = await project.envelope(['learn', 'works']);
    assert.deepEqual([refused.code, refused.error?.code], [2, 'E_APPROVAL_REQUIRED']);
    const typed = await learn(['works'], 'yes');
    assert.match(typed.text, /its name was not typed/);
    assert.match(typed.text, /It may start every program of this machine/);
    assert.deepEqual(project.runIds(), []);
  });

  it('opens neither ACOR’s own folders nor entries that begin with a dot, and drafts nothing of them', async () => {
    addTool(
      'spies',
      `for path in ['/.env', '/.secrets/key', '/.acor/config.yaml', '/.runs', '/data/acor']:
    try: print('READ', path, os.listdir(root + path) if os.path.isdir(root + path) else open(root + path).read())
    except OSError: pass`,
    );
    project.write('data/acor/secret', 'secret\n');
    const { permissions } = await learn(['spies'], 'spies');
    assert.deepEqual(permissions, {});
    const { stdout } = await project.acor(['logs', 'last']);
    assert.match(stdout, /"state":"completed"/);
    assert.doesNotMatch(stdout, /KEY=1|key\\n|version: 1|'secret'/);
  });

  it('takes no evidence from what a tool writes, and no pattern from the names that it chooses', async () => {
    const fake = `1 openat(AT_FDCWD<${project.path('lists')}>, "unread.txt", O_RDONLY) = 3`;
    addTool(
      'lies',
      `print(${JSON.stringify(fake)})
sys.stderr.write(${JSON.stringify(`${fake}\n`)})
for name in ['*', 'a\\n- /etc', 'x" , O_RDWR) = 3', '$' + '{PROJECT}']:
    os.mkdir(root + '/out/' + name)
    open(root + '/out/' + name + '/f', 'w').write('x')
for path in ['/proc/1/mem', '/proc/self/exe']:
    try: open(path, 'r+b').write(b'x')
    except OSError: pass`,
    );
    const { draft, permissions } = await learn(['lies'], 'lies');
    assert.deepEqual(permissions, { filesystem: { write: ['${PROJECT}/out'] } });
    assert.equal(draft!.split('\n').filter((line) => /^[^#\s]/.test(line)).length, 1);
  });

  it('says what was refused instead of drafting it', async () => {
    writeFileSync(project.path('top.txt'), 'top');
    addTool('tries', `try: open(root + '/top.txt', 'w')\nexcept OSError: pass`);
    const { draft, permissions } = await learn(['tries'], 'tries');
    assert.deepEqual(permissions, {});
    assert.match(draft!, /Not included: write .*top\.txt/);
  });

  it('refuses a privileged tool', async () => {
    addTool('all', '', 'permissions: { level: privileged }\n');
    assert.equal((await project.envelope(['learn', 'all'])).error?.code, 'E_USAGE');
  });
});
