import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { callOf, connectTo } from '../support/mcp-client.ts';
import { TestProject } from '../support/project.ts';

const HINT = 'run: git push --force-with-lease --no-verify, or acor show last';
const LINE = 'rm --force x; acor run add --a 1';
const FILE = 'my --dry-run --answers file.txt';

describe('words of others that look like a command line, for a client with calls', () => {
  let project: TestProject;
  let client: Client;
  before(async () => {
    project = new TestProject({ tools: [] });
    const add = (name: string, script: string, manifest = '') => {
      project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${manifest}`);
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    };
    const failure = { type: 'error', code: 'E_TOOL_FAILED', msg: LINE, hint: HINT };
    add('fails', `echo '${LINE}'; echo '${JSON.stringify(failure)}'; exit 1`);
    const inputs =
      'inputs:\n  - { name: times, type: int }\n  - { name: who }\n  - { name: file, type: path, access: read }\n';
    add('greets', `echo '{"type":"result","status":"ok"}'`, `description: '${HINT}'\n${inputs}`);
    add('late', 'sleep 600 & wait', 'timeout_s: 0.3\n');
    client = await connectTo(project);
  });
  after(async () => {
    await client.close();
    project[Symbol.dispose]();
  });

  it('are as the tool wrote them: its hint, its message and its output', async () => {
    const { run_id: run, error, text } = await callOf(client, 'fails');
    assert.deepEqual([error.hint, error.message], [HINT, LINE]);
    assert.ok(text.includes(`Hint: ${HINT}\n`), text);
    assert.ok((await callOf(client, 'acor_logs', { run })).text.includes(LINE));
  });

  it('are as the caller gave them: values, paths and arguments', async () => {
    assert.match((await callOf(client, 'greets', { times: '--dry-run' })).error.message, /"--dry-run"/);
    assert.ok((await callOf(client, 'greets', { file: FILE })).error.message.includes(FILE));
    const { run_id: run } = await callOf(client, 'greets', { who: '--dry-run' });
    assert.match((await callOf(client, 'acor_logs', { run })).text, /--dry-run/);
  });

  it('are as the author of the tool wrote them, in an explanation, beside commands of ACOR as calls', async () => {
    const { text } = await callOf(client, 'acor_explain', { topic: 'tool:greets' });
    assert.ok(text.includes(HINT), text);
    const overview = (await callOf(client, 'acor_explain')).text;
    assert.ok(overview.includes(HINT), overview);
    assert.match(overview, /`acor_logs \{"run":"<run>"\}`/);
    assert.doesNotMatch(overview, /`acor logs/);
  });

  it('are not the words of ACOR itself, which name parameters', async () => {
    const { error } = await callOf(client, 'late');
    assert.equal(error.code, 'E_DEADLINE');
    assert.match(error.hint, /\(timeout 3600, in seconds\)/);
  });
});
