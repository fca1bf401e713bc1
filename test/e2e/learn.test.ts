import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { observerProblem } from '../../src/core/sandbox/observer.ts';
import { TestProject, until } from '../support/project.ts';
import { atTerminal, KEYS, noTerminal, Terminal } from '../support/terminal.ts';

const isHere =
  process.platform === 'linux' && observerProblem() === undefined && (await bubblewrap.probe()).available;
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
  rmSync(project.path('draft.yaml'), { force: true });
  const { text } = await atTerminal(['learn', '--output', 'draft.yaml', ...args], {
    cwd: project.root,
    env: project.environment(),
    when: /To run it, type its name/,
    typed: `${typed}\n`,
  });
  const file = project.path('draft.yaml');
  const draft = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return { text, draft, permissions: draft && parse(draft).permissions };
}

/** The manifest without one line, as the control that the line is needed. */
function without(manifest: string, line: string): string {
  return manifest
    .split('\n')
    .filter((each) => each !== line)
    .join('\n');
}

/** Runs the tool without each line of the lists: the controls that the lines are needed. Returns their number. */
async function needsEachLine(name: string, draft: string, restore = () => {}): Promise<number> {
  const lines = draft.split('\n').filter((line) => /^ +- /.test(line));
  for (const line of lines) {
    project.write(`tools/${name}/tool.yaml`, without(draft, line));
    const run = await project.envelope(['run', '--no-stream', name]);
    assert.equal(run.ok, false, `without '${line}' it must fail`);
    restore();
  }
  return lines.length;
}

function eventsOf(runId: string): string {
  const path = project.path(`.runs/${runId}/events.jsonl`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

describe('learning', { skip }, () => {
  it('drafts a manifest with which the tool works, and without any of its lines does not', async () => {
    project.write('deep/down/b.txt', 'two\n');
    symlinkSync('../deep/down', project.path('lists/link'));
    project.write('bin/greet', '#!/usr/bin/perl\nprint "hello\\n";\n');
    chmodSync(project.path('bin/greet'), 0o755);
    const script = `text = open(root + '/lists/a.txt').read() + open(root + '/lists/link/b.txt').read()
assert os.path.exists(root + '/seen.txt')
open(root + '/out/new.txt', 'w').write(text)
os.chdir(root + '/kept')
os.rename('old.txt', 'renamed.txt')
subprocess.run([root + '/bin/greet'], check=True)
open(os.environ['WORKSPACE'] + '/scratch', 'w').write('in the workspace')`;
    project.write('seen.txt', '');
    project.write('kept/old.txt', '');
    addTool('works', script, '# kept as it is\ndescription: A tool.\n');
    const before = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(before.ok, false, 'the control: without permissions it fails');
    const { draft, permissions, text } = await learn(['works'], 'works');
    const bin = project.path('bin/greet');
    assert.deepEqual(
      permissions,
      {
        filesystem: {
          read: [
            '${PROJECT}/bin/greet',
            '${PROJECT}/deep/down/b.txt',
            '${PROJECT}/lists',
            '${PROJECT}/seen.txt',
          ],
          write: ['${PROJECT}/kept', '${PROJECT}/out'],
        },
        commands: [bin, 'perl'],
      },
      text,
    );
    assert.match(draft!, /lists # openat of .*lists\/link\/b\.txt/);
    assert.match(draft!, /# kept as it is\n(.*\n)*description: A tool\./);
    const shown = await project.envelope(['show', 'last']);
    assert.deepEqual(shown.data!.undecided.map(({ path }: { path: string }) => path).sort(), [
      project.path('kept'),
      project.path('out'),
    ]);
    assert.equal(existsSync(project.path('out/new.txt')), false, 'nothing is in place yet');
    await project.envelope(['discard', 'last']);
    const restore = () => {
      rmSync(project.path('out/new.txt'), { force: true });
      rmSync(project.path('kept/renamed.txt'), { force: true });
      project.write('kept/old.txt', '');
    };
    assert.equal(await needsEachLine('works', draft ?? '', restore), 8, text);
    project.write('tools/works/tool.yaml', draft ?? '');
    const run = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(run.data?.state, 'completed', JSON.stringify(run));
    assert.equal(readFileSync(project.path('out/new.txt'), 'utf8'), 'one\ntwo\n');
  });

  it('names the programs of a shell that needs one beyond the base utilities', async () => {
    const script = `#!/bin/bash
set -e -o pipefail
cd '${project.root}/lists'
sort < a.txt | tr o 0 > "$WORKSPACE/sorted"
perl -e 'exit 0'
printf '{"type":"result","status":"ok"}\\n'
`;
    project.write('tools/sorts/tool.yaml', 'name: sorts\nversion: 1.0.0\n');
    project.write('tools/sorts/cli.sh', script);
    chmodSync(project.path('tools/sorts/cli.sh'), 0o755);
    const { draft, permissions, text } = await learn(['sorts'], 'sorts');
    assert.deepEqual(permissions.filesystem, { read: ['${PROJECT}/lists/a.txt'] }, text);
    assert.deepEqual([...permissions.commands].sort(), ['perl', 'sort', 'tr']);
    assert.equal(await needsEachLine('sorts', draft ?? ''), 4);
    project.write('tools/sorts/tool.yaml', draft ?? '');
    const run = await project.envelope(['run', '--no-stream', 'sorts']);
    assert.equal(run.data?.state, 'completed', JSON.stringify(run));
  });

  it('drafts the hosts that the tool reached, and names those that it did not', async () => {
    const server = createServer((socket) => socket.end('hello\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      project.write(
        '.acor/config.yaml',
        `version: 1\nsecurity: { allow_private_egress: ['used.test:${port}', 'unused.test:${port}'], egress_hosts: { used.test: 127.0.0.1, unused.test: 127.0.0.1 } }\n`,
      );
      addTool(
        'calls',
        `import socket
assert socket.create_connection(('used.test', ${port})).recv(99) == b'hello\\n'
try: socket.create_connection(('other.test', ${port}))
except OSError: pass`,
      );
      const named = ['--net', `used.test:${port}`, '--net', `unused.test:${port}`];
      const { draft, permissions, text } = await learn([...named, 'calls'], 'calls');
      assert.deepEqual(permissions, { network: { egress_allow: [`used.test:${port}`] } }, text);
      assert.match(draft!, /# connection to used\.test:\d+, at 127\.0\.0\.1/);
      assert.match(draft!, /Not included: connect to other\.test/);
      const control = await project.envelope(['run', '--no-stream', 'calls']);
      assert.equal(control.ok, false);
      project.write('tools/calls/tool.yaml', draft ?? '');
      const run = await project.envelope(['run', '--no-stream', 'calls']);
      assert.equal(run.data?.state, 'completed', JSON.stringify(run));
    } finally {
      server.close();
    }
  });

  it('leaves what an argument grants, the workspace and the modes of a manifest as they are', async () => {
    const inputs = 'inputs: [{ name: file, type: path, positional: true }]\n';
    addTool(
      'counts',
      `open(sys.argv[1]).read()\nopen(root + '/out/count', 'w').write('1')`,
      `${inputs}permissions: { filesystem: { write: [{ path: '\${PROJECT}/out', mode: snapshot }] } }\n`,
    );
    const { draft, permissions } = await learn(['counts', 'lists/a.txt'], 'counts');
    assert.deepEqual(permissions, {
      filesystem: { write: [{ path: '${PROJECT}/out', mode: 'snapshot' }] },
    });
    await project.envelope(['discard', 'last']);
    project.write('tools/counts/tool.yaml', draft ?? '');
    const run = await project.envelope(['run', '--no-stream', 'counts', 'lists/a.txt']);
    assert.equal(run.data?.state, 'completed', JSON.stringify(run));
  });

  it('keeps the arguments of programs out of the trace, and the trace out of the run', async () => {
    addTool('passes', `subprocess.run(['true', 'hunter2' * 3], check=True)`);
    const { draft } = await learn(['passes'], 'passes');
    assert.doesNotMatch(draft!, /hunter2/);
    const [runId] = project.runIds();
    assert.equal(existsSync(project.path(`.runs/${runId}/observed`)), false);
  });

  it('needs a sandbox in which a tool can be observed, and says where to see which there are', async () => {
    addTool('quiet', '');
    // Nothing that it could change: a layer for that needs a sandbox before.
    for (const folder of ['lists', 'out']) rmSync(project.path(folder), { recursive: true });
    const { text } = await atTerminal(['learn', 'quiet'], {
      cwd: project.root,
      env: { ...project.environment(), ACOR_SECURITY_ISOLATION: 'off' },
      when: /To run it, type its name/,
      typed: 'quiet\n',
    });
    assert.match(text, /a tool cannot be observed/);
    assert.match(text, /acor health/);
  });

  it('counts what it writes down of a tool among what the tool writes', async () => {
    addTool(
      'floods',
      `for n in range(10**9): os.path.exists(f'/nowhere/{n}' * 100)`,
      'resources: { disk_mb: 3 }\n',
    );
    const { text } = await learn(['floods'], 'floods');
    assert.match(text, /the run ended as failed/);
    const shown = await project.envelope(['show', 'last']);
    assert.equal(shown.data?.code, 'E_DISK_LIMIT');
  });

  it('ends with its run at Ctrl-C, and leaves no process', async () => {
    addTool(
      'waits',
      `open(root + '/lists/a.txt').read()\nprint('{"type":"progress","pct":1}', flush=True)\nimport time\ntime.sleep(10**6)`,
    );
    const terminal = new Terminal(project, ['learn', 'waits'], {
      env: { ...project.environment(), TERM: 'dumb' },
    });
    await terminal.shows('To run it, type its name');
    terminal.type('waits\n');
    await until(() => project.runIds().some((id) => /"type":"progress"/.test(eventsOf(id))));
    terminal.type(KEYS.ctrlC);
    await terminal.ended;
    assert.match(terminal.text, /\$\{PROJECT\}\/lists\/a\.txt/);
    const end = JSON.parse(eventsOf(project.runIds()[0]!).trim().split('\n').at(-1)!);
    assert.deepEqual([end.type, end.state, end.survivors], ['runner_end', 'cancelled', []]);
  });

  it('refuses a place where the draft cannot be before it runs the tool, and loses no draft when the place changes', async () => {
    addTool('reads', "open(root + '/lists/a.txt').read()");
    const learnTo = (output: string) => project.envelope(['learn', '--output', output, 'reads']);
    assert.equal((await learnTo('missing/draft.yaml')).error.code, 'E_INPUT_NOT_FOUND');
    assert.equal((await learnTo('lists/a.txt/draft.yaml')).error.code, 'E_INPUT_NOT_FOUND');
    symlinkSync('nowhere', project.path('link.yaml'));
    assert.equal((await learnTo('link.yaml')).error.code, 'E_USAGE');
    assert.equal((await learnTo('out/draft.yaml')).error.code, 'E_APPROVAL_REQUIRED', 'the control');
    const { text } = await atTerminal(['learn', '--output', 'out/draft.yaml', 'reads'], {
      cwd: project.root,
      env: project.environment(),
      when: /To run it, type its name/,
      beforeTyping: () => project.write('out/draft.yaml', 'of another\n'),
      typed: 'reads\n',
    });
    assert.match(text, /the draft could not be written to/);
    assert.match(text, /\$\{PROJECT\}\/lists\/a\.txt/);
    assert.equal(readFileSync(project.path('out/draft.yaml'), 'utf8'), 'of another\n');
  });

  it('takes its own flags before and behind the name of the tool, and a dry run asks nothing', async () => {
    addTool('works', "open(root + '/out/new.txt', 'w').write('x')");
    addTool('declares', '', 'inputs: [{ name: dry_run, type: bool }]\n');
    for (const args of [
      ['--dry-run', '--net', 'a.example:443', '--net', 'b.example:443', 'works'],
      ['--net', 'a.example:443', 'works', '--dry-run', '--net', 'b.example:443'],
    ]) {
      const { data, error } = await project.envelope(['learn', ...args]);
      assert.deepEqual(data?.opened.hosts, ['a.example:443', 'b.example:443'], JSON.stringify(error));
    }
    for (const args of [
      ['declares', '--dry-run'],
      ['works', '--', '--dry-run'],
    ])
      assert.equal((await project.envelope(['learn', ...args])).error?.code, 'E_APPROVAL_REQUIRED');
    assert.deepEqual(project.runIds(), []);
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
for name in ['*', 'a\\n- etc', 'x" , O_RDWR) = 3', '$' + '{PROJECT}']:
    os.mkdir(root + '/out/' + name)
    open(root + '/out/' + name + '/f', 'w').write('x')
for path in ['/proc/1/mem', '/proc/self/exe']:
    try: open(path, 'r+b').write(b'x')
    except OSError: pass
# Files of the workspace, by names that lead to a file of the project in the process that reads the trace.
os.mkdir('lists'); open('lists/unread.txt', 'w').close()
open('/proc/self/cwd/lists/unread.txt').close(); open('/proc/thread-self/cwd/lists/unread.txt').close()`,
    );
    const { text, draft, permissions } = await learn(['lies'], 'lies');
    assert.match(text, /state +completed/, 'it came to its end');
    assert.deepEqual(permissions, { filesystem: { write: ['${PROJECT}/out'] } });
    const keys = draft!.split('\n').filter((line) => /^[^#\s]/.test(line));
    assert.deepEqual(keys, ['name: lies', 'version: 1.0.0', 'permissions:']);
  });

  it('says what was refused instead of drafting it', async () => {
    writeFileSync(project.path('top.txt'), 'top');
    addTool('tries', `try: open(root + '/top.txt', 'w')\nexcept OSError: pass`);
    const { draft, permissions } = await learn(['tries'], 'tries');
    assert.deepEqual(permissions, {});
    assert.match(draft!, /Not included: write .*top\.txt \(E/);
  });

  it('refuses a privileged tool', async () => {
    addTool('all', '', 'permissions: { level: privileged }\n');
    assert.equal((await project.envelope(['learn', 'all'])).error?.code, 'E_USAGE');
  });
});
