import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PluginProject } from '../support/plugin-project.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'plugins.md'), 'utf8');

/** The examples of the page by file name. */
const EXAMPLES = Object.fromEntries(
  [...PAGE.matchAll(/```ts\n\/\/ \.acor\/plugins\/(\S+)\n(.*?)```/gs)].map(([, file, text]) => [
    file!,
    text!,
  ]),
);

describe('the plugins in the document', () => {
  let project: PluginProject;
  before(() => {
    project = new PluginProject(EXAMPLES, { tools: ['quick'] });
    project.approve(...Object.keys(EXAMPLES));
    project.write('tools/old_one/cli.sh', '#!/bin/bash\n', 0o755);
    project.write('tools/wipe/cli.pl', 'print "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\"}\\n";');
    project.write('tools/wipe/tool.yaml', 'name: wipe\nversion: 1.0.0\neffects: destroys\n');
  });
  after(() => project[Symbol.dispose]());

  it('do what the document says', async () => {
    assert.deepEqual(Object.keys(EXAMPLES), ['shelf.ts', 'hours.ts', 'diary.ts', 'pearls.ts']);
    const { env } = project;
    const { data } = await project.envelope(['list'], { env });
    assert.deepEqual(
      data.tools.map(({ name, language, notes }: Record<string, unknown>) => [name, language, notes]),
      [
        ['quick', 'bash', undefined],
        ['wipe', 'perl', undefined],
      ],
    );
    const refused = await project.envelope(['run', 'wipe'], { env });
    assert.equal(refused.error.details.reason, 'wipe destroys: give --yes');
    const ran = await project.run(['wipe', '--', '--yes'], { env });
    assert.deepEqual([ran.end.state, ran.events[0]!.timeout_s], ['completed', 600]);
    assert.match(readFileSync(project.path('diary.txt'), 'utf8'), /^\S+ completed\n$/);
  });

  it('are those among the examples, which compile against the exported types', () => {
    for (const [file, text] of Object.entries(EXAMPLES)) {
      assert.equal(text, readFileSync(join(ROOT, 'examples', 'plugins', file), 'utf8'), file);
    }
  });
});
