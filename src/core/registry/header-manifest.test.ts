import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readHeaderManifest } from './header-manifest.ts';

describe('the manifest in the header of a script', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acor-header-'));
  const script = join(folder, 'script.sh');
  after(() => rmSync(folder, { recursive: true }));

  const read = (text: string) => {
    writeFileSync(script, text);
    return readHeaderManifest(script);
  };

  it('is read from the marked comments at its top', async () => {
    const yaml = await read(
      '#!/bin/sh\n# A greeting.\n# acor: name: greet\n# acor: strict: true\necho\n# acor: name: no\n',
    );
    assert.deepEqual([yaml?.value, yaml?.problems], [{ name: 'greet', strict: true }, []]);
    assert.equal(await read('#!/bin/sh\n# acor is good\necho\n'), undefined);
  });

  it('may have the line ends of Windows', async () => {
    const yaml = await read('# acor: adapter: plain\r\n#\r\n# acor: effects: reads\r\nprint("hi")\r\n');
    assert.deepEqual([yaml?.value, yaml?.problems], [{ adapter: 'plain', effects: 'reads' }, []]);
    assert.deepEqual(yaml?.placeOf(['effects']), { line: 3, column: 18 });
  });

  it('is refused with the form of a line when its lines have no keys', async () => {
    for (const header of ['# acor: name flaky', '# acor: - a', '# acor: 5']) {
      const yaml = await read(`#!/bin/sh\n${header}\necho\n`);
      assert.deepEqual(yaml?.problems, [
        {
          file: script,
          line: 2,
          column: 1,
          rule: 'type',
          message: 'the header manifest has no keys',
          fix: 'Write a key, a colon and a value after each mark, such as "# acor: name: greet".',
        },
      ]);
    }
    // A mark alone declares nothing, as an empty tool.yaml.
    assert.deepEqual((await read('#!/bin/sh\n# acor:\necho\n'))?.problems, []);
  });
});
