import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ACOR, TestProject } from '../support/project.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
const needsStrace = canTrace ? {} : { skip: 'needs strace' };
/** How often a server looks for changed tools, and a follower whether the supervisor of its run lives. */
const LIVENESS_POLL_MS = 500;
/** Cold: the caches are written. The caches take nothing in that was changed within the last tick of the clock. */
const WARM_UP_RUNS = 3;

/** A project with a tool that no test runs: each discovery looks at its manifest once. */
async function tracedProject(): Promise<TestProject> {
  const project = new TestProject({ tools: ['quick', 'exits_with', 'silent'] });
  for (let run = 0; run < WARM_UP_RUNS; run++) await project.run(['quick']);
  return project;
}

function strace(trace: string): [string, ...string[]] {
  return ['strace', '-f', '-qq', '-o', trace, '-s', '400', '-e', 'trace=%file'];
}

/** The system calls that name files, of a command and everything that it starts. */
function callsOf(project: TestProject, args: readonly string[]): string[] {
  const trace = project.path('trace');
  const [program, ...options] = strace(trace);
  const { stdout } = spawnSync(program, [...options, ACOR, ...args], {
    cwd: project.root,
    env: project.environment(),
    encoding: 'utf8',
  });
  assert.match(stdout, /"state":"|"ok":/, stdout);
  return readFileSync(trace, 'utf8').split('\n');
}

function discoveriesIn(calls: readonly string[], project: TestProject): number {
  const manifest = `"${project.path('tools', 'silent', 'tool.yaml')}"`;
  return calls.filter((call) => /\b(statx|newfstatat|lstat)\(/.test(call) && call.includes(manifest)).length;
}

function namingAny(calls: readonly string[], part: RegExp): string[] {
  return calls.filter((call) => part.test(call));
}

describe('a warm `acor run`', needsStrace, () => {
  it('discovers the tools once, also with global flags after the name of its tool', async () => {
    using project = await tracedProject();
    for (const args of [
      ['run', 'quick'],
      ['run', 'quick', '--json', '--no-stream'],
      ['run', '--no-stream', 'quick'],
      ['run', 'quick', '--dry-run'],
    ])
      assert.equal(discoveriesIn(callsOf(project, args), project), 1, args.join(' '));
  });

  it('reads the error codes of the project only when something fails', async () => {
    using project = await tracedProject();
    project.write(
      '.acor/error_codes.yaml',
      'version: 1\ncodes: { E_MINE: { class: unknown, retryable: false } }\n',
    );
    assert.deepEqual(namingAny(callsOf(project, ['run', 'quick']), /error_codes\.yaml/), []);
    assert.notDeepEqual(namingAny(callsOf(project, ['run', 'exits_with', '3']), /error_codes\.yaml/), []);
  });

  it('wakes its supervisor for requests and by its timer, not for file changes of the sandbox', async () => {
    using project = await tracedProject();
    const startedAtMs = performance.now();
    const calls = callsOf(project, ['run', 'quick']);
    // Ten looks while the run is young, and then one every 250 ms.
    const byTimer = 10 + (performance.now() - startedAtMs) / 250;
    const looks = namingAny(calls, /\bw?access.*\/control\/KILL"|faccessat.*\/control\/KILL"/).length;
    assert.ok(looks <= 2 + byTimer, `${looks} looks at the control folder, ${byTimer} by the timer`);
    assert.deepEqual(namingAny(calls, /\/control\/scratch-/), []);
    // The control: the files that have no name are in memory, and are opened again there.
    assert.notDeepEqual(namingAny(calls, /"\/proc\/self\/fd\/\d+", O_RDWR\|O_APPEND/), []);
  });
});

describe('a call of a tool by MCP', needsStrace, () => {
  it('discovers the tools once in the server and once in the supervisor, and reads the record a constant number of times', async () => {
    const CALLS = 8;
    using project = await tracedProject();
    const trace = project.path('trace');
    const [command, ...options] = strace(trace);
    const transport = new StdioClientTransport({
      command,
      args: [...options, ACOR, 'mcp'],
      cwd: project.root,
      env: project.environment() as Record<string, string>,
    });
    const client = new Client({ name: 'counts', version: '1' });
    const startedAtMs = performance.now();
    await client.connect(transport);
    for (let call = 0; call < CALLS; call++) {
      const { structuredContent } = await client.callTool({ name: 'quick', arguments: {} });
      assert.equal((structuredContent as { state: string }).state, 'completed');
    }
    await client.close();
    const elapsedMs = performance.now() - startedAtMs;
    const calls = readFileSync(trace, 'utf8').split('\n');

    // Two servers, because the client tries the later revision first; its list of the tools; two looks before the
    // folders of the tools are watched. No polls.
    const apart = 5;
    const discoveries = discoveriesIn(calls, project);
    assert.ok(discoveries >= 2 * CALLS, `${discoveries}: the trace does not show the calls`);
    assert.ok(discoveries <= 2 * CALLS + apart, `${discoveries} discoveries for ${CALLS} calls`);

    const reads = namingAny(calls, /openat\(.*\/r-[a-z0-9]+\/metadata\.json", O_RDONLY/).length;
    const polls = Math.ceil(elapsedMs / LIVENESS_POLL_MS);
    // Nine, and one more where the run of the call before still has its lease: the answer names the live runs.
    assert.ok(reads <= (9 + 1) * CALLS + polls, `${reads} reads of records for ${CALLS} calls`);
  });
});
