import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ACOR, TestProject } from '../support/project.ts';

const FIXTURE = join(dirname(import.meta.dirname), 'fixtures', 'embedded');
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not here';

type Reported = {
  path: string;
  action: string;
  why?: string;
  by_hand?: string;
  lines?: { line: number; after: string }[];
};

/** A project in the layout before ACOR: its own runner, a registry, and helpers that tools import. */
class EmbeddedProject extends TestProject {
  constructor() {
    super();
    for (const name of ['.acor', 'tools']) rmSync(this.path(name), { recursive: true });
    cpSync(FIXTURE, this.root, { recursive: true });
  }

  async move(...args: string[]): Promise<Reported[]> {
    const { data, ok, error } = await this.envelope(['init', '--from-existing', ...args]);
    assert.ok(ok, JSON.stringify(error));
    return data.files;
  }

  text(path: string): string {
    return readFileSync(this.path(path), 'utf8');
  }
}

const by = (files: readonly Reported[], path: string) => files.find((file) => file.path === path);

describe('a project of the earlier layout, converted', { skip: noPython }, () => {
  let project: EmbeddedProject;
  let reported: Reported[];
  before(async () => {
    project = new EmbeddedProject();
    const foreseen = await project.move('--dry-run');
    assert.ok(!existsSync(project.path('.acor')), 'a dry run writes nothing');
    assert.match(project.text('tools/line_counter/cli.py'), /^from protocol import/m);
    reported = await project.move();
    assert.deepEqual(reported, foreseen);
  });
  after(() => project[Symbol.dispose]());

  it('runs its tools, through acor and through its shortcut', async () => {
    project.write('in.txt', 'one\ntwo\n');
    const counted = await project.run(['line_counter', '--input', 'in.txt', '--output', 'out.json']);
    assert.equal(counted.end.state, 'completed', counted.stdout);
    assert.deepEqual(JSON.parse(project.text('out.json')), { lines: 2 });
    const measured = await project.run(['word_lengths', '--text', 'a bcd']);
    assert.deepEqual(measured.of('result')[0]!.data, { lengths: [1, 3] });
    const chatty = await project.run(['chatty']);
    assert.deepEqual(
      [chatty.end.state, chatty.of('log')[0]?.msg],
      ['completed', 'said with the helper of all tools'],
      chatty.stdout,
    );
    project.write('none.txt', '');
    const env = { PATH: `${dirname(ACOR)}:${process.env.PATH}`, HOME: process.env.HOME ?? '/' };
    const args = ['line_counter', '--input', 'none.txt', '--output', 'x.json'];
    const { status, stdout } = spawnSync(project.path('tool'), args, {
      cwd: project.root,
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 30, stdout);
    assert.match(stdout, /"code":"E_EMPTY_FILE"/);
  });

  it('keeps its manifests and error codes in their files', async () => {
    const { data } = await project.envelope(['describe', 'line_counter']);
    assert.deepEqual(
      [data.version, data.manifest_path],
      ['0.3.0', project.path('tools/registry/line_counter/tool.yaml')],
    );
    assert.equal(
      readFileSync(join(FIXTURE, 'tools/registry/line_counter/tool.yaml'), 'utf8'),
      project.text('tools/registry/line_counter/tool.yaml'),
    );
    assert.equal((await project.envelope(['errors', 'E_EMPTY_FILE'])).ok, true);
    assert.equal((await project.envelope(['describe', 'word_lengths'])).data.version, '1.0.0');
  });

  it('reports every import, changed or kept', () => {
    assert.deepEqual(by(reported, 'tools/line_counter/cli.py')!.lines, [
      {
        line: 7,
        before: 'from protocol import emit_start, emit_progress, emit_result, emit_error',
        after: 'from acor.protocol import emit_start, emit_progress, emit_result, emit_error',
      },
    ]);
    assert.equal(
      by(reported, 'tools/word_lengths/main.py')!.lines![0]!.after,
      'from acor.protocol import (  # noqa: E402',
    );
    const kept = by(reported, 'tools/chatty/cli.py')!;
    assert.deepEqual(
      [kept.action, /_emit'\. It keeps using tools\/_lib\/protocol\.py$/.test(kept.why!)],
      ['keep', true],
    );
    for (const path of [
      'tools/_lib/protocol.py',
      'tools/line_counter/_lib/protocol.py',
      'tools/chatty/cli.py',
    ])
      assert.equal(project.text(path), readFileSync(join(FIXTURE, path), 'utf8'), path);
  });

  it('reports what a person must do', () => {
    const left = reported.filter(({ action }) => action === 'could_not');
    assert.deepEqual(
      left.map(({ path }) => path),
      ['tools/pipeline/cli.py'],
    );
    assert.match(left[0]!.why!, /starts other tools through \.\/tool/);
    assert.match(left[0]!.by_hand!, /commands: \[acor\].*workflow/);
  });

  it('keeps its old runner, shortcut and misnamed manifest in another folder, unchanged', () => {
    for (const path of ['tool', 'tools/run.py', 'tools/registry/word_lengths.json']) {
      const aside = join('.acor/replaced', path);
      assert.equal(project.text(aside), readFileSync(join(FIXTURE, path), 'utf8'), path);
      assert.equal(statSync(project.path(aside)).mode, statSync(join(FIXTURE, path)).mode);
    }
  });

  it('is converted once: a second time changes nothing', async () => {
    const again = await project.move();
    const changes = again.filter(({ action }) => !['keep', 'unchanged', 'could_not'].includes(action));
    assert.deepEqual(changes, []);
  });
});

describe('the conversion', () => {
  it('names the tools and error codes that cannot be used unchanged', async () => {
    using project = new EmbeddedProject();
    project.write('tools/registry/chatty/tool.yaml', 'name: chatty\ntimeout: 5\n');
    project.write(
      'tools/registry/error_codes.yaml',
      'version: 1\ncodes:\n  E_RATE_LIMIT: { class: user_error, retryable: false }\n',
    );
    const left = (await project.move()).filter(({ action }) => action === 'could_not');
    assert.match(by(left, 'tools/registry/chatty/tool.yaml')!.why!, /tool\.yaml:2:1: .*'timeout'/);
    assert.match(by(left, 'tools/registry/error_codes.yaml')!.why!, /E_RATE_LIMIT is built in as/);
  });

  it('keeps files that only look like the old runner or helper', async () => {
    using project = new EmbeddedProject();
    const own = '#!/bin/sh\necho mine\n';
    project.write('tools/run.py', own, 0o755);
    const source = 'from protocol import emit_start\n';
    project.write('tools/apart/cli.py', source);
    project.write('tools/apart/protocol/__init__.py', 'def emit_start(step): pass\n');
    const reported = await project.move();
    assert.deepEqual(
      [by(reported, 'tools/run.py'), by(reported, 'tools/apart/cli.py')],
      [undefined, undefined],
    );
    assert.deepEqual([project.text('tools/run.py'), project.text('tools/apart/cli.py')], [own, source]);
  });

  it('keeps a runner that is not in the way', async () => {
    using project = new EmbeddedProject();
    chmodSync(project.path('tools/run.py'), 0o644);
    const kept = by(await project.move(), 'tools/run.py')!;
    assert.deepEqual([kept.action, kept.by_hand], ['keep', 'Once nothing else calls it: rm tools/run.py']);
  });

  it('rejects a folder with nothing to convert', async () => {
    using project = new TestProject();
    const { code, error } = await project.envelope(['init', '--from-existing']);
    assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    assert.match(error.message, /no tools\/<name>\/cli\.py or main\.py/);
  });
});

describe('_lib beside the tools', { skip: noPython }, () => {
  it('may be read by every tool and written by no tool; a link in its place cannot be resolved', async () => {
    using project = new TestProject();
    project.write('shared/secret.txt', 'of the project\n');
    const source = `import os, json, sys
there = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_lib", "secret.txt")
try:
    text = open(there, sys.argv[1]).read()
except OSError as error:
    text = type(error).__name__
print(json.dumps({"type": "result", "status": "ok", "data": text}))
`;
    project.write('tools/looks/cli.py', source);
    const look = async (mode: string) => (await project.run(['looks', mode])).of('result')[0]!.data;
    cpSync(project.path('shared'), project.path('tools/_lib'), { recursive: true });
    assert.equal(await look('r'), 'of the project\n');
    assert.match(String(await look('a')), /Error$/);
    rmSync(project.path('tools/_lib'), { recursive: true });
    spawnSync('ln', ['-s', project.path('shared'), project.path('tools/_lib')]);
    assert.equal(
      readFileSync(project.path('tools/_lib/secret.txt'), 'utf8'),
      'of the project\n',
      'the control',
    );
    assert.equal(await look('r'), 'FileNotFoundError');
  });
});
