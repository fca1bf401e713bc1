import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { connectTo } from '../support/mcp-client.ts';
import { TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

/** A search with backtracking tries each way to share the letters of the name among the wildcards: more than 10 to the power of 20. */
const NAME = 'a'.repeat(100);
const STARS = '*a'.repeat(30);
const VARIABLES = Array.from({ length: 30 }, (_, at) => `{v${at}}`).join('a');

const DISCOVERY = { patterns: { python: [`${STARS}z.py`, `${STARS}.py`] } };
const RESOURCES = [
  { uri: 'never://{path}', files: `docs/${STARS}z` },
  { uri: 'found://{path}', files: `docs/${STARS}` },
  { uri: `made://${VARIABLES}z`, tool: 'many' },
];
/** What each tool reads. */
const READS = { many: `docs/${STARS}z`, deep: `docs/${'*/'.repeat(60_000)}x` };

const project = new TestProject({
  config: `${WITHOUT_SANDBOX}discovery: ${JSON.stringify(DISCOVERY)}\nresources: ${JSON.stringify(RESOURCES)}\n`,
});
project.write(`docs/${NAME}`, 'text');
project.write(`tools/${NAME}.py`, 'print("found")\n');
for (const [name, path] of Object.entries(READS)) {
  const permissions = `permissions: { filesystem: { read: ["${path}"] } }\n`;
  project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: plain\n${permissions}`);
  project.write(`tools/${name}/cli.sh`, '#!/bin/bash\necho done\n', 0o755);
}
after(() => project[Symbol.dispose]());

describe('a pattern of files with many wildcards', () => {
  it('of the configuration finds its entries, and no others', async () => {
    const { data } = await project.envelope(['list']);
    assert.deepEqual(
      (data!['tools'] as { name: string }[]).map(({ name }) => name),
      [NAME, 'deep', 'many'],
    );
    assert.equal((await project.envelope(['list', '--filter', `${STARS}z`])).ok, true);
  });

  it('of a manifest is compared with the files, also by --dry-run', async () => {
    for (const flag of ['--dry-run', '--no-stream']) {
      assert.equal((await project.envelope(['run', 'many', flag])).ok, true, flag);
      assert.equal((await project.envelope(['run', 'deep', flag])).error?.code, 'E_PERMISSION', flag);
    }
  });

  it('of a resource is compared by a server, which answers the next call', async () => {
    const client = await connectTo(project);
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri).filter((uri) => uri.endsWith(NAME)),
      [`found://docs/${NAME}`],
    );
    const { contents } = await client.readResource({ uri: `found://docs/${NAME}` });
    assert.equal((contents[0] as { text: string }).text, 'text');
    await assert.rejects(client.readResource({ uri: `made://${NAME}` }));
    await assert.rejects(client.readResource({ uri: `never://docs/${NAME}` }));
    await client.close();
  });
});
