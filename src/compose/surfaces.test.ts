import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { doubles } from '../../examples/compose/doubles.ts';
import { captureCli } from './capture-cli.ts';
import { functionTools, manualPage, serveHttp, serveMcp, skillFiles } from './surfaces.ts';

const DOUBLES = join(import.meta.dirname, '../../examples/compose/doubles.ts');

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'surfaces-'));
  mkdirSync(join(folder, 'photos'));
  for (const name of ['a.jpg', 'b.jpg', 'c.jpg']) writeFileSync(join(folder, 'photos', name), 'equal');
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe('a program over MCP', () => {
  it('offers its commands with their effects, and answers with envelopes', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [DOUBLES, 'mcp'],
        cwd: folder,
        stderr: 'ignore',
      }),
    );
    try {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      assert.ok(names.includes('copies_list') && names.includes('system_health'));
      assert.ok(!names.some((name) => /complete|man|mcp/.test(name)), names.join(' '));
      const remove = tools.find(({ name }) => name === 'copies_remove');
      assert.deepEqual(remove?.annotations, {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
      });
      assert.deepEqual(Object.keys(remove?.inputSchema.properties ?? {}), [
        'folder',
        'min_size',
        'dry_run',
        'yes',
        'plan',
      ]);
      const listed = await client.callTool({ name: 'copies_list', arguments: { folder: 'photos' } });
      assert.equal(listed.isError, false);
      const { ok, data, meta } = listed.structuredContent as {
        ok: boolean;
        data: never;
        meta: { next: string[] };
      };
      assert.deepEqual([ok, (data as { copies: { files: string[] }[] }).copies[0]!.files.length], [true, 3]);
      assert.deepEqual(meta.next, ['doubles copies remove photos --dry-run']);
      const wrong = await client.callTool({ name: 'copies_list', arguments: { folder: 'none', size: 1 } });
      assert.equal(wrong.isError, true);
      assert.match(JSON.stringify(wrong.structuredContent), /E_USAGE.*there is no parameter/);
      await assert.rejects(client.callTool({ name: 'nothing' }), /no tool/);
    } finally {
      await client.close();
    }
  });

  it('offers only what it may do, and answers what is no request', () => {
    const lines = [
      'nonsense',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":2,"method":"x"}',
    ];
    const { stdout, status } = spawnSync(process.execPath, [DOUBLES, 'mcp', '--allow', 'reads'], {
      cwd: folder,
      encoding: 'utf8',
      input: `${lines.join('\n')}\n`,
    });
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const codes = answers.map(({ id, error }) => [id, error?.code]);
    assert.deepEqual(
      codes.sort(),
      [
        [null, -32700],
        [1, undefined],
        [2, -32601],
      ].sort(),
    );
    const listed = answers.find(({ id }) => id === 1);
    assert.ok(!JSON.stringify(listed).includes('copies_remove'));
    assert.equal(status, 0);
  });
});

describe('a call that JSON would change', () => {
  it('is refused by the server of MCP', () => {
    const call = (id: number, size: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"copies_list","arguments":{"folder":"photos","min_size":${size}}}}`;
    const { stdout } = spawnSync(process.execPath, [DOUBLES, 'mcp'], {
      cwd: folder,
      encoding: 'utf8',
      input: `${[call(1, '9007199254740993'), call(2, '1e400'), call(3, '1,"min_size":2'), call(4, '1')].join('\n')}\n`,
    });
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .sort((one, other) => one.id - other.id);
    const [whole, endless, twice, control] = answers;
    assert.match(whole.error.message, /must not have the number 9007199254740993, which/);
    assert.match(endless.error.message, /must not have the number 1e400, which/);
    assert.match(twice.error.message, /must not have the key 'min_size' twice/);
    assert.equal(control.result.isError, false);
  });
});

describe('a program over HTTP', () => {
  it('refuses what is not UTF-8, and half of a character, with the place', async () => {
    const server = await serveHttp(doubles);
    const call = async (path: string, body?: string | Uint8Array) => {
      const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
      const response = await fetch(`${server.url}${path}`, {
        headers,
        ...(body !== undefined && { method: 'POST', body }),
      });
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      return [response.status, error.code, error.message];
    };
    try {
      assert.deepEqual(await call('copies.list', Buffer.from('{"folder":"caf\xe9"}', 'latin1')), [
        400,
        'E_USAGE',
        'the body is not UTF-8 at byte 14',
      ]);
      assert.deepEqual(await call('copies.list', '{"folder":"a\\ud800"}'), [
        400,
        'E_USAGE',
        'the body must not have the text "a\\ud800" at folder: a half of a surrogate pair is no character',
      ]);
      assert.deepEqual(await call('copies.list?folder=caf%E9'), [
        400,
        'E_USAGE',
        'the query is not UTF-8: ?folder=caf%E9',
      ]);
    } finally {
      await server.close();
    }
  });

  it('answers with envelopes to callers with its token, and offers only what it may do', async () => {
    const server = await serveHttp(doubles);
    const headers = { authorization: `Bearer ${server.token}` };
    const get = async (path: string, more: RequestInit = {}) => {
      const response = await fetch(`${server.url}${path}`, { headers, ...more });
      return { status: response.status, ...((await response.json()) as Record<string, never>) };
    };
    try {
      const catalog = await get('tools');
      assert.equal(catalog.status, 200);
      assert.match(JSON.stringify(catalog), /copies\.list/);
      const query = new URLSearchParams({ folder: join(folder, 'photos'), fields: 'files', limit: '1' });
      const listed = (await get(`copies.list?${query}`)) as unknown as {
        data: { copies: { files: string[] }[] };
      };
      assert.deepEqual(Object.keys(listed.data.copies[0]!), ['files']);
      const posted = { ...headers, 'content-type': 'application/json' };
      const body = JSON.stringify({ folder: join(folder, 'photos') });
      assert.equal((await get('copies.list', { method: 'POST', headers: posted, body })).status, 200);
      assert.equal((await get('copies.list', { method: 'POST', headers: posted, body: '[]' })).status, 400);
      assert.equal((await get('copies.list', { method: 'POST', headers, body })).status, 400);
      assert.equal((await get('copies.list?folder=nothing')).status, 422);
      assert.equal((await get('%E0%A4%A')).status, 404);
      // It destroys, and this server lets callers read.
      assert.equal((await get('copies.remove', { method: 'POST', headers: posted, body })).status, 404);
      assert.equal((await get('tools', { headers: {} })).status, 401);
      assert.equal(
        (await get('tools', { headers: { ...headers, origin: 'https://evil.example' } })).status,
        401,
      );
      const { status, text: refusal } = await answerTo(server.url, { ...headers, host: 'evil.example' });
      assert.equal(status, 401);
      assert.match(refusal, /the Host header \\"evil\.example\\" does not name this machine/);
      assert.match(JSON.parse(refusal).error.hint, /^Send the host of the address/);
    } finally {
      await server.close();
    }
  });

  it('is not served with a token that is empty, which a request without one would match, or that no request can have', async () => {
    for (const token of ['', ' ', 'two words', 'end\n', 5, null]) {
      const served = serveHttp(doubles, { token: token as string, allow: 'destroys' });
      served.then(
        (server) => server.close(),
        () => undefined,
      );
      await assert.rejects(served, { code: 'E_USAGE', message: /^token of serveHttp must be a text/ });
    }
    const server = await serveHttp(doubles, { token: 'a' });
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}tools`, { headers })).status;
    try {
      assert.deepEqual([await statusWith({}), await statusWith({ authorization: 'Bearer a' })], [401, 200]);
    } finally {
      await server.close();
    }
  });

  it('is not served at a port that is not a number of one: Node would listen on a socket file in the folder', async () => {
    for (const port of ['doubles.sock', 99_999, -1, 1.5])
      await assert.rejects(serveHttp(doubles, { port: port as number }), {
        code: 'E_USAGE',
        message: /^port of serveHttp must be a whole number from 0 to 65535, not /,
      });
    assert.equal(existsSync('doubles.sock'), false);
  });

  it('is not served, nor are its functions made, with an unknown `allow`', async () => {
    const allow = 'everything' as 'reads';
    const refusal = {
      code: 'E_USAGE',
      message: /^allow must be one of reads, writes, destroys, not "everything"/,
    };
    await assert.rejects(serveHttp(doubles, { allow }), refusal);
    await assert.rejects(serveMcp(doubles, { allow }), refusal);
    await assert.rejects(functionTools(doubles, { allow }), refusal);
  });
});

/** `fetch` sets the header `Host` itself. */
function answerTo(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    request(`${url}tools`, { headers }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, text: body }), reject);
    })
      .on('error', reject)
      .end();
  });
}

describe('a program for a model', () => {
  it('is functions that a program calls', async () => {
    const tools = await functionTools(doubles, { allow: 'reads' });
    const list = tools.find(({ name }) => name === 'copies_list')!;
    assert.deepEqual(Object.keys(list.parameters['properties'] as object), ['folder', 'min_size']);
    const answer = await list.call({ folder: join(folder, 'photos'), min_size: 2 });
    assert.deepEqual([answer.ok, answer.meta.tool], [true, 'copies.list']);
    assert.ok(!tools.some(({ name }) => name === 'copies_remove'));
  });

  it('refuses an input that is not an object', async () => {
    const [list] = await functionTools(doubles, { allow: 'reads' });
    for (const input of [null, undefined, 'folder', 5, ['photos']]) {
      const answer = await list!.call(input as unknown as Record<string, unknown>);
      assert.ok(!answer.ok);
      assert.deepEqual(
        [answer.error.code, answer.error.message],
        ['E_USAGE', 'the input must be a JSON object'],
      );
    }
  });

  it('refuses a Map, a Set and half of a character in an input, with the place', async () => {
    const [list] = await functionTools(doubles, { allow: 'reads' });
    for (const [value, said] of [
      [new Map(), 'a Map at folder.0'],
      [new Set(), 'a Set at folder.0'],
      ['\udc00', 'the text "\\udc00" at folder.0'],
    ] as const) {
      const answer = await list!.call({ folder: [value] });
      assert.ok(!answer.ok);
      assert.equal(answer.error.code, 'E_USAGE');
      assert.ok(answer.error.message.startsWith(`the input must not have ${said}`), answer.error.message);
    }
  });

  it('is a skill with every command, and a guide', async () => {
    const [file] = await skillFiles(doubles);
    assert.equal(file!.path, 'doubles/SKILL.md');
    assert.match(file!.text, /^---\nname: doubles\ndescription: ".*"\n/);
    for (const text of ['doubles copies remove', '(destroys)', '--plan', 'E_NO_FOLDER', '"ok":true'])
      assert.ok(file!.text.includes(text), text);
    const { stdout } = await captureCli(doubles, ['explain', '--format', 'markdown']);
    assert.ok(file!.text.endsWith(stdout));
    const { data } = JSON.parse((await captureCli(doubles, ['explain'])).stdout);
    assert.ok(data.sections.some(({ heading }: { heading: string }) => heading === 'Exit codes'));
  });
});

describe('the manual page of a program', () => {
  const hasMan = spawnSync('man', ['--version']).status === 0;
  it('is roff that man shows without a warning', { skip: !hasMan && 'man is not here' }, async () => {
    const page = await manualPage(doubles);
    assert.equal((await captureCli(doubles, ['man'])).stdout.split('\n')[0], page.split('\n')[0]);
    const { stdout, stderr } = spawnSync('man', ['--warnings=w', '-l', '-'], {
      input: page,
      encoding: 'utf8',
      env: { ...process.env, MANWIDTH: '100', MAN_KEEP_FORMATTING: '', LC_ALL: 'C.UTF-8' },
    });
    assert.equal(stderr, '');
    assert.match(stdout.replace(/.\x08/g, ''), /doubles copies remove \[flags\] \[folder\]/);
  });
});

describe('a stream of lines', () => {
  it('is cut by --offset, --limit and --fields, and its reader gets them as they come', async () => {
    const lines = async (...argv: string[]) => {
      const { stdout, exit } = await captureCli(doubles, ['files', 'hash', ...argv], {
        cwd: join(folder, 'photos'),
      });
      assert.equal(exit, 0, stdout);
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    assert.equal((await lines()).length, 3);
    const [one, ...others] = await lines('--fields', 'path,bytes', '--offset', '1', '--limit', '1');
    assert.deepEqual([one, others], [{ path: join(folder, 'photos', 'b.jpg'), bytes: 5 }, []]);
    assert.deepEqual(await lines('--limit', '0'), []);
  });

  it('is text with --format text, line by line, and its answer follows', async () => {
    const text = async (...argv: string[]) => {
      const given = ['files', 'hash', '--format', 'text', ...argv];
      return (await captureCli(doubles, given, { cwd: join(folder, 'photos') })).stdout;
    };
    const file = (name: string) => `path   ${join(folder, 'photos', name)}\nbytes  5\n\n`;
    assert.equal(await text('--fields', 'path,bytes', '--limit', '2'), `${file('a.jpg')}${file('b.jpg')}`);
    const whole = await text();
    assert.equal(whole.match(/^sha256/gm)?.length, 3);
    assert.ok(whole.endsWith('\n\nfiles  3\n'), whole);
  });
});

describe('a deprecated command', () => {
  it('works as before, and says what replaces it: in the answer, in help and in the catalog', async () => {
    const { stdout } = await captureCli(doubles, ['scan', 'photos'], { cwd: folder });
    const { data, meta } = JSON.parse(stdout);
    assert.equal(data.copies.length, 1);
    assert.deepEqual(meta.warnings, ['Deprecated since 1.0.0. Use: doubles copies list']);
    assert.ok(meta.next.includes('doubles copies list'));
    assert.match(
      (await captureCli(doubles, ['scan', '--help'])).stdout,
      /Deprecated since 1\.0\.0\. Use: doubles copies list/,
    );
    const { data: entry } = JSON.parse((await captureCli(doubles, ['tools', 'copies.scan'])).stdout);
    assert.deepEqual(entry.deprecated, { use: 'doubles copies list', since: '1.0.0' });
  });
});
