import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const skip = process.platform === 'win32' ? 'this system has no named pipes' : false;

let project: TestProject;
let runId: string;
before(async () => {
  project = new TestProject({ tools: ['quick', 'reads_file'] });
});
after(() => project[Symbol.dispose]());

/** Puts a pipe, which has no writer, instead of a file. */
function pipeAt(path: string): void {
  rmSync(project.path(path), { force: true });
  execFileSync('mkfifo', [project.path(path)]);
}

describe('a pipe instead of a file of the store', { skip }, () => {
  for (const path of ['events.jsonl', 'metadata.json'])
    it(`(${path}) is an error of that file, and no command waits for it`, async () => {
      await project.run(['quick']);
      ({ run_id: runId } = (await project.run(['quick'])).end as never);
      pipeAt(`.runs/${runId}/${path}`);
      const { data, error } = await project.envelope(['verify', runId]);
      assert.match(JSON.stringify(data ?? error), /no regular file but a pipe/);
      for (const command of [
        ['show', runId],
        ['logs', runId],
        ['runs'],
        ['verify'],
        ['health'],
        ['decisions'],
      ])
        assert.notEqual((await project.acor(command)).stdout, '', command.join(' '));
      const all = await project.envelope(['verify']);
      const { runs, counts } = all.error?.details ?? {};
      const seen = runs?.map(({ run_id, ok }: { run_id: string; ok: boolean }) => [run_id, ok]);
      assert.deepEqual([counts?.runs, seen], [2, [[runId, false]]], JSON.stringify(all));
      await project.acor(['clean', '--keep', '0']);
      rmSync(project.runsDir, { recursive: true });
    });

  for (const path of [
    'ledger.jsonl',
    'index.sqlite',
    'leases/r-1m83fva4fp9453fg@1',
    'queue/r-1m83fva4fp9453fg.waiting',
  ])
    it(`(${path}) holds up no command`, async () => {
      await project.run(['quick']);
      pipeAt(`.runs/${path}`);
      for (const command of [['runs'], ['verify'], ['health', '--fix'], ['run', 'quick', '--no-stream']])
        assert.notEqual((await project.acor(command)).stdout, '', command.join(' '));
      rmSync(project.runsDir, { recursive: true });
    });
});

describe('an input file', { skip }, () => {
  it('that is a pipe or a device is refused at once', async () => {
    pipeAt('fifo');
    for (const file of [project.path('fifo'), '/dev/zero', project.root])
      for (const words of [
        ['run', 'reads_file', '--input-json', `@${file}`],
        ['runs', '--input-json', `@${file}`],
      ]) {
        const { error } = await project.envelope(words);
        assert.equal(error.code, 'E_USAGE', words.join(' '));
        assert.match(error.message, /no regular file/);
      }
  });
});
