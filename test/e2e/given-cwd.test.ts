import assert from 'node:assert/strict';
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { shellCommand, splitCommand } from '../../src/util/shell-words.ts';
import { TestProject } from '../support/project.ts';
import { noTerminal, Terminal } from '../support/terminal.ts';

/** A caller in another project, whose `--cwd` needs quotes in a shell and is relative. */
let project: TestProject;
let other: TestProject;
let given: string;
before(() => {
  project = new TestProject({ tools: ['quick', 'exits_with'] });
  other = new TestProject();
  mkdirSync(project.path("an 'odd' folder"));
  given = relative(realpathSync(other.root), project.path("an 'odd' folder"));
  assert.ok(given.startsWith('..') && dirname(given) !== '.');
});
after(() => {
  other[Symbol.dispose]();
  project[Symbol.dispose]();
});

const fromOther = (args: readonly string[]) => project.envelope(args, { cwd: other.root });

/** The answers to the printed commands, each called where the caller is. */
async function answersTo(commands: readonly string[]) {
  assert.notEqual(commands.length, 0);
  const answers = [];
  for (const command of commands) {
    const [program, ...args] = splitCommand(command)!;
    assert.equal(program, 'acor', command);
    const { stdout } = await project.acor([...args, '--json'], { cwd: other.root });
    // Of a stream, the last line says of which run it is.
    answers.push(JSON.parse(stdout.trimEnd().split('\n').at(-1)!));
  }
  return answers;
}

describe('the next commands of a command line with --cwd work in the folder of the caller', () => {
  it('after the start of a run', async () => {
    const { meta, data } = await fromOther(['--cwd', given, 'run', 'quick', '--detach']);
    const [first, ...more] = await answersTo(meta.next);
    assert.deepEqual([first.ok, first.data.run_id], [true, data.run_id]);
    assert.ok(more.every(({ error }) => error?.code !== 'E_RUN_NOT_FOUND'));
    const bare = await fromOther(['wait', data.run_id]);
    assert.equal(bare.error.code, 'E_RUN_NOT_FOUND', 'the control');
  });

  it('after a failure, but without --cwd in the recorded event', async () => {
    const { meta, error } = await fromOther([`--cwd=${given}`, 'run', 'exits_with', '3', '--no-stream']);
    assert.equal(error.code, 'E_TOOL_FAILED');
    const [log] = await answersTo(meta.next);
    assert.equal(log.data.run_id, error.details.run_id);
    const recorded = project.events(error.details.run_id).at(-1)!;
    assert.match(String((recorded.next as string[])[0]), /^acor (?!--cwd)/);
  });

  it('after a list that was cut, once', async () => {
    const { meta } = await fromOther(['--cwd', given, 'list', '--limit', '1']);
    assert.equal(meta.next[0].match(/--cwd/g).length, 1, meta.next[0]);
    const [page] = await answersTo(meta.next.slice(0, 1));
    assert.equal(page.data.tools.length, 1);
  });

  it('in the fixes of checks, in sentences, and in the hint for a step that the policy leaves to others', async () => {
    project.write('tools/p/cli.sh', '#!/bin/sh\n', 0o755);
    project.write(
      'tools/p/tool.yaml',
      'name: p\nversion: 1.0.0\nadapter: plain\npermissions: { level: privileged }\nsecrets: [{ name: no_such }]\n',
    );
    project.write('plug.mjs', 'export default {}\n');
    project.write('.acor/config.yaml', 'version: 1\nplugins: [plug.mjs]\n');
    const { data: health } = await fromOther(['--cwd', given, 'health']);
    const fixes = health.checks.map(({ fix }: { fix?: string }) => fix ?? '');
    const { data: permissions } = await fromOther(['--cwd', given, 'describe', 'p', '--permissions']);
    const { data: codes } = await fromOther(['--cwd', given, 'errors', 'E_TOOL_NOT_FOUND']);
    project.write('.acor/policy.yaml', 'version: 1\nwho_may: { approve: [agent:other] }\n');
    const { error } = await fromOther(['--cwd', given, 'run', 'p']);
    assert.match(error.hint, /The policy leaves it to others. At a terminal: acor --cwd /);
    const texts = [...fixes, ...permissions.words, codes.codes[0].hint, error.hint].flatMap(
      (text: string) => text.match(/\bacor .+/g) ?? [],
    );
    const begin = `acor --cwd ${shellCommand([given])} `;
    assert.ok(
      texts.every((text) => text.startsWith(begin)),
      texts.join('\n'),
    );
    for (const words of ['approve plugin:plug', 'secret set no_such', 'approve p', 'list'])
      assert.ok(
        texts.some((text) => text.startsWith(begin + words)),
        words,
      );
    const bare = await project.envelope(['health']);
    assert.ok(JSON.stringify(bare.data).includes('"acor secret set no_such"'), 'the control');
  });

  it('as a person at a terminal sees them', { skip: noTerminal }, async () => {
    const env = project.environment({}, other.root);
    const screen = new Terminal(other, ['--cwd', given, 'run', 'exits_with', '3'], { env });
    await screen.ended;
    const shown = screen.text.split(/\r?\n/).filter((line) => line.startsWith('  acor '));
    const [log] = await answersTo(shown.map((line) => line.trim()));
    assert.ok(screen.text.includes(log.data.run_id), screen.text);
  });
});
