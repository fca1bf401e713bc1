import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { TestServer } from '../support/http-server.ts';
import { TestProject, until } from '../support/project.ts';
import { noTerminal, Terminal } from '../support/terminal.ts';

const probe = await bubblewrap.probe();
const skip = (!probe.available && `bubblewrap is not available here (${probe.detail})`) || noTerminal;

let project: TestProject;
/** A folder that no tool may read without a person's yes. */
let outside: string;
beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'acor-outside-')));
  writeFileSync(join(outside, 'data.txt'), 'content\n');
  project = new TestProject({ config: 'version: 1\nsecurity: { on_denied: ask }\n' });
  mkdirSync(project.path('tmp'));
  project.write(
    'tools/reads/tool.yaml',
    'name: reads\nversion: 1.0.0\ninputs: [{ name: file, type: path, access: read, positional: true, required: true }]\n',
  );
  project.write(
    'tools/reads/cli.py',
    `import json, sys
print(json.dumps({'type': 'result', 'status': 'ok', 'data': {'text': open(sys.argv[1]).read()}}), flush=True)
`,
  );
});
afterEach(() => {
  project[Symbol.dispose]();
  rmSync(outside, { recursive: true, force: true });
});

const env = () => ({ TMPDIR: project.path('tmp') });

/** A run that asks whether its tool may read a file outside. */
async function askingRun(): Promise<{ run: string }> {
  const args = ['run', '--detach', 'reads', join(outside, 'data.txt')];
  const { data, error } = await project.envelope(args, { env: env() });
  assert.ok(data, JSON.stringify(error));
  await until(() => project.record(data.run_id)?.state === 'waiting_ai');
  return { run: data.run_id };
}

/** The cookie that a link signs a browser in with. */
async function cookieOf(link: string): Promise<string> {
  const answer = await fetch(link);
  return answer.headers.get('set-cookie')!.split(';', 1)[0]!;
}

/** Gives the answer as the page does. */
async function answerAsPage(url: string, cookie: string, input: object) {
  const answer = await fetch(new URL('/api/v1/run.answer', url), {
    method: 'POST',
    headers: { Cookie: cookie, 'Content-Type': 'application/json', 'X-Acor-Client': 'dashboard' },
    body: JSON.stringify({ ...input, choice: 'run' }),
  });
  return (await answer.json()) as { ok: boolean; error?: { code: string; hint: string } };
}

async function linkOf(terminal: Terminal): Promise<string> {
  const link = /http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{32}/;
  await terminal.shows(link);
  return link.exec(terminal.text)![0];
}

describe('a browser that the link at a terminal has signed in', { skip }, () => {
  it('is the person who may allow what a manifest does not, and stays it until the server ends', async () => {
    const asked = await askingRun();
    const serve = ['serve', '--port', '0', '--http-allow', 'answer', '--token-file', 'token'];
    const first = new Terminal(project, serve, { env: env() });
    const link = await linkOf(first);
    const cookie = await cookieOf(link);
    assert.equal((await answerAsPage(link, cookie, asked)).ok, true);
    const { data } = await project.envelope(['wait', asked.run, '--until', 'ending'], { env: env() });
    assert.equal(data.result.data.text, 'content\n');
    first.type('\x03');
    await first.ended;

    const again = await askingRun();
    const port = new URL(link).port;
    const second = new Terminal(project, serve.with(2, port), { env: env() });
    const newLink = await linkOf(second);
    const refused = await answerAsPage(newLink, cookie, again);
    assert.equal(refused.error?.code, 'E_APPROVAL_REQUIRED', 'the session goes on, as one of anybody');
    assert.equal((await answerAsPage(newLink, await cookieOf(newLink), again)).ok, true);
    second.type('\x03');
    await second.ended;
  });

  it('is no person where a program could read the link, and a token is none either', async () => {
    const asked = await askingRun();
    const server = await TestServer.start(project, ['--http-allow', 'answer']);
    const cookie = await cookieOf(server.link);
    const { error } = await answerAsPage(server.url, cookie, asked);
    assert.equal(error?.code, 'E_APPROVAL_REQUIRED');
    assert.match(error.hint, /in the dashboard of a server that was started at one/);
    // A program that has the token can sign a session, and only a session.
    const forged = `${cookie}.${cookie.split('.')[1]}`;
    assert.equal((await answerAsPage(server.url, forged, asked)).error?.code, 'E_APPROVAL_REQUIRED');
    const byToken = await server.call('run.answer', { ...asked, choice: 'run' });
    assert.equal(byToken.json.error?.code, 'E_APPROVAL_REQUIRED');
    assert.equal(project.record(asked.run)?.state, 'waiting_ai');
    await server.stop();
    await project.envelope(['cancel', asked.run], { env: env() });
  });
});
