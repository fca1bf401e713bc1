import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { projectFolder } from '../../../../test/support/project-folder.ts';
import { planBlock } from './marked-block.ts';
import { writeFiles } from './write-files.ts';

describe('a marked block', () => {
  const project = projectFolder();
  after(() => project.remove());

  function merged(text: string, lines = 'a\nb\n'): { action: string; text: string } {
    const path = project.write('ignore', text);
    const planned = planBlock(path, lines);
    writeFiles([planned], project.root);
    return { action: planned.action, text: readFileSync(path, 'utf8') };
  }

  it('is put at the end of what is there, and put there once', () => {
    for (const before of ['', 'mine\n', 'mine']) {
      const once = merged(before);
      assert.equal(once.action, 'merge');
      assert.ok(once.text.startsWith(before));
      assert.match(once.text, /(?:^|mine\n\n?)# acor:begin\na\nb\n# acor:end\n$/);
      assert.deepEqual(merged(once.text), { action: 'unchanged', text: once.text });
    }
  });

  it('is replaced in place, and the text around it keeps every byte', () => {
    const before = 'mine\r\n# acor:begin\nold\n# acor:end\n\tyours # acor:begin';
    assert.deepEqual(merged(before), {
      action: 'merge',
      text: 'mine\r\n# acor:begin\na\nb\n# acor:end\n\tyours # acor:begin',
    });
  });

  it('is left to a person where its marks do not pair up', () => {
    for (const torn of [
      '# acor:begin\na\n',
      'a\n# acor:end\n',
      '# acor:end\n# acor:begin\n',
      '# acor:begin\n# acor:begin\n# acor:end\n',
    ])
      assert.deepEqual(merged(torn), { action: 'could_not', text: torn }, torn);
  });

  it('does not go through a link', () => {
    const other = project.write('other', 'mine\n');
    const planned = planBlock(project.link('link', other), 'a\n');
    writeFiles([planned], project.root);
    assert.deepEqual([planned.action, readFileSync(other, 'utf8')], ['keep', 'mine\n']);
  });
});
