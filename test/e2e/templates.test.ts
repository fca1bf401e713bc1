import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ENTRIES, TEMPLATES } from '../../src/core/authoring/scaffold/templates.ts';
import { findProgram } from '../../src/core/registry/find-program.ts';
import { ROOT, TestProject } from '../support/project.ts';

/** What the tool of a language needs, and how a person runs its test: the command in its README. */
const NEEDS = {
  python: 'python3',
  bash: 'bash',
  node: 'node',
  typescript: 'bun',
  go: 'go',
  rust: 'cargo',
} as const;
const BIN = join(ROOT, 'node_modules', '.bin');
const PATH = `${BIN}:${process.env.PATH}`;

/** A file, a line in it, the work to add behind that line (asks, keeps a checkpoint, and ends), and what the next attempt reports of the checkpoint. */
const WITH_STATE = {
  go: [
    'cli.go',
    'func greet(given inputs) {\n',
    `\tstate := struct{ Done int }{}
	if loadCheckpoint("work", &state) {
		fail("E_TOOL_FAILED", fmt.Sprintf("done %d", state.Done), "")
	}
	stop := heartbeat("work", 1000000)
	answer := ask("go on?", "Go on?", "yes", "no")
	stop()
	state.Done = 7
	saveCheckpoint("work", state)
	fail("E_TOOL_FAILED", fmt.Sprint("answered ", answer), "")
`,
    'done 7',
  ],
  rust: [
    'src/main.rs',
    'fn greet(who: &str, times: u32) {\n',
    `    if let Some(saved) = state::load_checkpoint("work") {
        let (note, done) = (saved.get::<String>("note"), saved.get::<u32>("done"));
        fail("E_TOOL_FAILED", &format!("{note} {} {done}", saved.get::<String>("list")));
    }
    let beats = state::heartbeat("work", std::time::Duration::from_millis(1));
    let answer = state::ask("go on?", "Go on?", &["yes", "no"]);
    drop(beats);
    state::save_checkpoint("work", r#"{ "note" : "a \\"b\\" é \\u00e9\\ud83d\\ude00", "list": [ 1, {"}": "]"} ] , "done": 7\n}"#);
    if times > 0 { fail("E_TOOL_FAILED", &format!("answered {answer}")); }
`,
    'a "b" é é😀 [ 1, {"}": "]"} ] 7',
  ],
} as const;

function missing(program: string): string | false {
  const { status } = spawnSync(program, [program === 'go' ? 'version' : '--version'], {
    env: { ...process.env, PATH },
  });
  return status === 0 ? false : `${program} is not here`;
}

describe('acor template', () => {
  let project: TestProject;
  before(async () => {
    project = new TestProject();
  });
  after(() => project[Symbol.dispose]());

  for (const language of TEMPLATES) {
    it(`writes a tool in ${language} that runs at once, with a selftest and a test that pass`, {
      skip: missing(NEEDS[language]),
    }, async () => {
      const name = `in-${language}`;
      const env = { PATH };
      const made = await project.envelope(['template', language, '--name', name], { env });
      assert.deepEqual([made.ok, made.data?.notes], [true, []], JSON.stringify(made));
      assert.equal(made.meta.next[0], `acor run ${name} --who Ada --times 2`);

      const { end, of, stdout } = await project.run([name, '--who=--Ada "x" \\ é', '--times', '2'], { env });
      assert.equal(end.state, 'completed', stdout);
      assert.deepEqual(of('result')[0]!.data, {
        greetings: ['Hello, --Ada "x" \\ é!', 'Hello, --Ada "x" \\ é!'],
      });
      assert.deepEqual(
        of('progress').map(({ pct }) => pct),
        [50, 100],
      );
      for (const type of ['runner_warning', 'runner_log', 'diagnostic'])
        assert.deepEqual(of(type), [], stdout);

      const folder = project.path('tools', name);
      const readme = readFileSync(join(folder, 'README.md'), 'utf8');
      const commands = /```sh\n([^`]+)```/
        .exec(readme)![1]!
        .split('\n')
        .filter((line) => line.includes(`tools/${name}`));
      const test = commands.at(-1)!.replace(/^node --test (\S+\.ts) .*/, 'bun test ./$1');
      const run = () =>
        spawnSync('sh', ['-c', test], { cwd: project.root, env: { ...process.env, PATH }, encoding: 'utf8' });
      assert.equal(run().status, 0, test);
      const work = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
        /(^|\/)greeting\.\w+$/.test(path),
      )!;
      const source = readFileSync(join(folder, work), 'utf8');
      writeFileSync(join(folder, work), source.replace('Hello', 'Goodbye'));
      assert.notEqual(run().status, 0, 'the test does not see a change of what the tool does');
    });
  }

  it('lists with --dry-run what it would write, and writes nothing', async () => {
    for (const language of TEMPLATES) {
      const { data } = await project.envelope([
        'template',
        language,
        '--name',
        `of_${language}`,
        '--dry-run',
      ]);
      assert.ok(data.files.every(({ action }: { action: string }) => action === 'create'));
      assert.ok(!existsSync(data.folder));
      const paths = data.files.map(({ path }: { path: string }) => path);
      for (const file of ['tool.yaml', 'README.md', ENTRIES[language]])
        assert.ok(paths.includes(`tools/of_${language}/${file}`), file);
    }
  });

  it('overwrites nothing, and names the existing files', async () => {
    project.write('tools/mine/tool.yaml', 'name: mine\n');
    project.write('tools/elsewhere/cli.sh', 'echo\n');
    project.write('tools/elsewhere/tool.yaml', 'name: taken\n');
    project.write('tools/file', 'text\n');
    project.write('tools/notes/README.md', 'of the user\n');
    for (const [name, there] of [
      ['mine', 'tools/mine/tool.yaml'],
      ['taken', 'tools/elsewhere/cli.sh'],
      ['file', 'tools/file'],
      ['notes', 'tools/notes/README.md'],
    ] as const) {
      const { code, error, meta } = await project.envelope(['template', 'bash', '--name', name]);
      assert.deepEqual([code, error.code, error.details.file], [1, 'E_USAGE', project.path(there)]);
      assert.deepEqual(meta.next, [`acor template bash --name ${name}_2`]);
    }
    assert.deepEqual(readdirSync(project.path('tools/mine')), ['tool.yaml']);
  });

  it('rejects invalid tool names', async () => {
    for (const name of ['Mine', 'registry', 'a/b', '..', '-x', '']) {
      const { error } = await project.envelope(['template', 'bash', `--name=${name}`]);
      assert.deepEqual([error?.code], ['E_USAGE'], name);
    }
  });

  for (const language of ['go', 'rust'] as const) {
    it(`in ${language} has checkpoints, questions and signs of life`, {
      skip: missing(NEEDS[language]),
    }, async () => {
      const name = `state_${language}`;
      const env = { PATH };
      await project.envelope(['template', language, '--name', name], { env });
      const [file, before, work, checkpoint] = WITH_STATE[language];
      const source = readFileSync(project.path('tools', name, file), 'utf8');
      project.write(`tools/${name}/${file}`, source.replace(before, `${before}${work}`));
      const manifest = readFileSync(project.path('tools', name, 'tool.yaml'), 'utf8');
      project.write(
        `tools/${name}/tool.yaml`,
        manifest.replace('strict: true', 'strict: true\nactions: [go on?]'),
      );
      const build = (await project.envelope(['run', name], { env })).meta.next[0];
      const built = spawnSync('sh', ['-c', build], { env: { ...process.env, PATH }, encoding: 'utf8' });
      assert.equal(built.status, 0, built.stderr);

      const asked = await project.envelope(['run', name, '--no-stream'], { env });
      assert.deepEqual(
        [asked.error?.code, asked.error?.details.questions[0].options],
        ['E_ACTION_REQUIRED', [{ id: 'yes' }, { id: 'no' }]],
      );
      const { run_id } = asked.error.details;
      await project.envelope(['answer', run_id, 'go on?', '--choice', 'yes']);
      const first = await project.envelope(['wait', run_id]);
      assert.equal(first.error?.message, 'answered yes', JSON.stringify(first));
      const { stdout } = await project.acor(['logs', run_id, '--type', 'heartbeat']);
      assert.ok(JSON.parse(stdout).data.events.length > 0);
      const again = await project.envelope(['resume', run_id, '--force', '--no-stream'], { env });
      assert.equal(again.error?.message, checkpoint, JSON.stringify(again));
    });
  }

  it('writes to another folder, and notes that the project does not search it', async () => {
    const { data, meta } = await project.envelope(['template', 'bash', '--output', 'more']);
    assert.ok(existsSync(project.path('more/hello/cli.sh')));
    assert.match(data.notes[0], /project\.tools_dirs/);
    assert.equal(meta.next, undefined);
  });

  it('names the build before it begins, on stderr', async () => {
    // In place of a compiler that takes its time.
    project.write('slow/cargo', '#!/bin/sh\necho "the compiler" >&2\nexit 1\n', 0o755);
    const env = { PATH: `${project.path('slow')}:${process.env.PATH}` };
    const { stderr, stdout } = await project.acor(['template', 'rust', '--name', 'slowly'], { env });
    assert.match(stderr, /^Building the tool: \(cd .*slowly.* && cargo build .*\)\n/);
    assert.match(JSON.parse(stdout).data.notes[0], /the compiler/);
  });

  for (const language of ['go', 'rust'] as const) {
    it(`in ${language} writes the tool also when it cannot be built, and the tool reports what it needs`, async () => {
      // What the launcher of ACOR itself needs, without a toolchain.
      mkdirSync(project.path('few'), { recursive: true });
      for (const program of ['sh', 'find', 'readlink'])
        if (!existsSync(project.path('few', program)))
          symlinkSync(findProgram(program, process.env)!, project.path('few', program));
      const env = { PATH: project.path('few') };
      const { data, meta } = await project.envelope(['template', language, '--name', `later_${language}`], {
        env,
      });
      const [build] = meta.next as string[];
      assert.match(build!, /^\(cd .* && (?:go|cargo) build .*\)$/);
      assert.ok(data.notes[0].includes(build) && /there is no (?:go|cargo) on the PATH/.test(data.notes[0]));
      const { code, error, meta: led } = await project.envelope(['run', `later_${language}`], { env });
      assert.deepEqual([code, error.code, led.next], [2, 'E_RUNTIME_MISSING', [build]]);
      assert.match(error.hint, /^Install (?:Go|Rust)/);
    });
  }
});
