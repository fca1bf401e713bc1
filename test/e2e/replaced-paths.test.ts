import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const skip = process.platform === 'linux' ? false : 'this system has no paths through descriptors';
const RESULT = 'print(\'{"type":"result","status":"ok"}\')\n';

let project: TestProject;
beforeEach(() => {
  project = new TestProject();
  mkdirSync(project.path('victim'), { mode: 0o777 });
  mkdirSync(project.path('out', 'sub'), { recursive: true });
});
afterEach(() => project[Symbol.dispose]());

/** A tool with a folder that it may write, and one output. */
function addTool(name: string, script: string, manifest = ''): void {
  project.write(
    `tools/${name}/tool.yaml`,
    `name: ${name}\nversion: 1.0.0\nidempotent: true\n${manifest}inputs:\n  - { name: folder, type: path, access: write }\n  - { name: out, type: path, access: write }\n`,
  );
  project.write(
    `tools/${name}/cli.py`,
    `import os, sys\nargs = dict(a[2:].split('=', 1) if '=' in a else (a[2:], sys.argv[i + 2]) for i, a in enumerate(sys.argv[1:]) if a.startswith('--'))\n${script}${RESULT}`,
  );
}

describe('an output', { skip }, () => {
  for (const kind of ['file', 'folder'])
    it(`(a ${kind}) is not written through a link by which the tool replaced a folder above it`, async () => {
      const make = {
        file: "open(args['out'], 'w').write('planted')\n",
        folder: "os.mkdir(args['out']); open(args['out'] + '/tool', 'w').write('planted')\n",
      }[kind]!;
      addTool(
        'swaps',
        `${make}os.rename(args['folder'] + '/sub', args['folder'] + '/was')\nos.symlink(${JSON.stringify(project.path('victim'))}, args['folder'] + '/sub')\n`,
      );
      const { end, of } = await project.run(['swaps', '--folder', 'out', '--out', 'out/sub/x']);
      assert.deepEqual([end.state, end.code, end.artifacts], ['failed', 'E_CONFLICT', []]);
      assert.match(
        String(of('runner_error')[0]?.['msg']),
        /is a link or a file now, and ACOR does not follow it/,
      );
      assert.deepEqual(readdirSync(project.path('victim')), []);
    });

  it('is put in place in folders that do not exist yet (the control)', async () => {
    addTool('writes', "open(args['out'], 'w').write('good')\n");
    const { end } = await project.run(['writes', '--out', 'out/sub/new/deep/x']);
    assert.equal(end.state, 'completed');
    assert.equal(readFileSync(project.path('out/sub/new/deep/x'), 'utf8'), 'good');
  });

  it('of another file system is copied with everything in it', async () => {
    const script =
      "os.mkdir(args['out']); os.mkdir(args['out'] + '/in'); open(args['out'] + '/in/x', 'w').write('good'); os.chmod(args['out'] + '/in/x', 0o750)\n";
    addTool('writes', script);
    const target = `/dev/shm/acor-test-${process.pid}/made`;
    const env = { ACOR_SECURITY_GRANT_ROOTS: '/dev/shm' };
    const { end, stdout } = await project.run(['writes', '--out', target], { env });
    assert.equal(end.state, 'completed', stdout);
    assert.equal(readFileSync(`${target}/in/x`, 'utf8'), 'good');
    assert.equal(statSync(`${target}/in/x`).mode & 0o777, 0o750);
    const { removePath } = await import('../../src/util/walk-tree.ts');
    removePath(`/dev/shm/acor-test-${process.pid}`);
  });
});

describe('the staging folder', { skip }, () => {
  it('is new in each attempt, whatever the attempt before has left in its place', async () => {
    const victim = JSON.stringify(project.path('victim'));
    addTool(
      'plants',
      `if os.environ['ACOR_ATTEMPT'] == '1':
    staged = os.environ['WORKSPACE'] + '/.staged'
    os.rename(staged, staged + '-was')
    os.symlink(${victim}, staged)
    sys.exit(20)
open(args['out'], 'w').write('good')
`,
      'retry: { max_attempts: 2, backoff_s: 0.01 }\n',
    );
    const { end, stdout } = await project.run(['plants', '--out', 'out/x']);
    assert.equal(end.state, 'completed', stdout);
    assert.deepEqual(readdirSync(project.path('victim')), []);
    assert.equal(readFileSync(project.path('out/x'), 'utf8'), 'good');
  });
});

describe('folders that are nested deeper than a path can be long', { skip }, () => {
  const NEST = "for _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\n";

  it('disable no later run, no health and no clean', async () => {
    addTool('nests', `os.chdir(os.environ['WORKSPACE'])\n${NEST}`);
    addTool('writes', "open(args['out'], 'w').write('good')\n");
    const first = await project.run(['nests']);
    assert.equal(first.end.state, 'completed', first.stdout);
    const later = await project.run(['writes', '--folder', 'out', '--out', 'out/x']);
    assert.equal(later.end.state, 'completed', later.stdout);
    assert.equal((await project.envelope(['clean', '--keep', '0'])).ok, true);
    assert.deepEqual(project.runIds(), []);
    assert.deepEqual(readdirSync(project.path('.runs', 'removed')), []);
  });

  it('are restored in a granted folder, too', async () => {
    addTool('nests', `os.chdir(args['folder'])\n${NEST}`);
    const { end, stdout } = await project.run(['nests', '--folder', 'out']);
    assert.equal(end.state, 'completed', stdout);
    assert.equal(statSync(project.path('out/d/d/d')).uid, process.getuid!());
    const { removePath } = await import('../../src/util/walk-tree.ts');
    removePath(project.path('out'));
  });
});

describe('what cannot be an artifact', { skip }, () => {
  it('is named in a clear error: a name that is no UTF-8, a closed folder', async () => {
    addTool('odd', "open(os.environ['ARTIFACTS_DIR'].encode() + b'/a\\xff', 'w').write('x')\n");
    addTool('closed', "os.mkdir(os.environ['ARTIFACTS_DIR'] + '/c', 0)\n");
    const odd = await project.run(['odd']);
    assert.deepEqual([odd.end.state, odd.end.code], ['failed', 'E_PERMISSION']);
    assert.match(String(odd.of('runner_error')[0]?.['msg']), /its name is not UTF-8/);
    const closed = await project.run(['closed']);
    if (process.getuid?.() === 0) return assert.equal(closed.end.state, 'completed');
    assert.deepEqual([closed.end.state, closed.end.code], ['failed', 'E_PERMISSION']);
    assert.match(
      String(closed.of('runner_error')[0]?.['msg']),
      /artifacts\/c is refused: it cannot be read \(EACCES\)/,
    );
    assert.equal(existsSync(project.path('.runs')), true);
  });
});

describe('a path argument in ACOR’s own folders', () => {
  it('is refused, except for an artifact of a run', async () => {
    project.write(
      'tools/makes/cli.py',
      "import os\nopen(os.environ['ARTIFACTS_DIR'] + '/a.txt', 'w').write('made')\nopen('left', 'w').write('x')\n" +
        RESULT,
    );
    project.write(
      'tools/reads/tool.yaml',
      'name: reads\nversion: 1.0.0\nadapter: plain\ncommand: [cat]\ninputs:\n  - { name: file, type: path, access: read, required: true, positional: true }\n',
    );
    project.write('tools/free/tool.yaml', 'name: free\nversion: 1.0.0\nadapter: plain\ncommand: [cat]\n');
    const { end } = await project.run(['makes']);
    assert.equal(end.state, 'completed');
    const run = `.runs/${end.run_id}`;
    for (const tool of ['reads', 'free'])
      for (const path of [
        `${run}/events.jsonl`,
        `${run}/metadata.json`,
        `${run}/work/left`,
        `${run}/artifacts`,
        '.runs/ledger.jsonl',
        '.acor/config.yaml',
      ]) {
        const { code, error } = await project.envelope(['run', tool, path]);
        assert.deepEqual([code, error?.code], [1, 'E_PERMISSION'], `${tool} ${path}`);
      }
    const read = await project.run(['reads', `${run}/artifacts/a.txt`]);
    assert.deepEqual(
      read.of('log').map(({ msg }) => msg),
      ['made'],
    );
  });
});
