import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

/** Together more than the kernel takes in one variable, with characters of one and of four bytes. */
const TEXTS = { first: 'x'.repeat(100_000), second: '🙂"'.repeat(20_000) };

const TOOLS = {
  bash: [
    'cli.sh',
    '#!/bin/bash\nsource "$ACOR_LIB/acor.sh"\nfirst=$(args first)\nemit_result ok data:="$(json_object first=${#first} second="$(args second | md5sum | cut -c1-32)")"\n',
  ],
  python: [
    'cli.py',
    'import hashlib\nfrom acor import args, emit_result\ngiven = args()\nemit_result("ok", data={"first": len(given["first"]), "second": hashlib.md5((given["second"] + "\\n").encode()).hexdigest()})\n',
  ],
} as const;

describe('inputs that are long together', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    for (const [name, [file, text]] of Object.entries(TOOLS)) {
      const inputs = 'inputs: [{ name: first, type: string }, { name: second, type: string }]';
      project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${inputs}\n`);
      project.write(`tools/${name}/${file}`, text, 0o755);
    }
    project.write('long.json', JSON.stringify(TEXTS));
  });
  after(() => project[Symbol.dispose]());

  for (const name of Object.keys(TOOLS))
    it(`reach args() of the SDK for ${name} whole`, async () => {
      const { ok, data, error } = await project.envelope([
        'run',
        name,
        '--no-stream',
        '--input-json',
        '@long.json',
      ]);
      assert.ok(ok, JSON.stringify(error));
      const md5 = createHash('md5').update(`${TEXTS.second}\n`).digest('hex');
      assert.deepEqual(data.result.data, { first: TEXTS.first.length, second: md5 });
    });
});
