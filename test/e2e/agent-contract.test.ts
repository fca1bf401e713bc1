import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { doubles } from '../../examples/compose/doubles.ts';
import { captureCli } from '../../src/compose/capture-cli.ts';
import { loadAll } from '../../src/compose/catalog.ts';
import { helpWords } from '../../src/compose/help-words.ts';
import { parametersOf } from '../../src/compose/parameters.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { ROOT } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';

// The acceptance checks and the anti-patterns of the contract for command lines that agents use (seed 004), for ACOR and for
// the example of the kit. `compose-audit.test.ts` has the audit of ACOR, and `envelopes.test.ts` every command.

type Entry = { name: string; command: string; category: string; parameters: { name: string }[] };

let project: ProjectInProcess;
before(() => {
  project = new ProjectInProcess({ isTrusted: true });
});
after(() => project[Symbol.dispose]());

/** Why a command that changes something has no dry run. */
const WITHOUT_PREVIEW: Readonly<Record<string, string>> = {
  'compose call': 'the called command has one',
  'compose plan': 'it is the preview of compose migrate',
  serve: 'each call has one',
  mcp: 'each call has one',
  'self-test': 'it works in a folder of its own',
};

/** A command line as its callers see it: ACOR, and the example of the kit. */
const PROGRAMS = {
  acor: { routes: ROUTES, catalog: ['tools', '--full'], call: (args: string[]) => project.acor(args) },
  doubles: {
    routes: doubles.routes,
    catalog: ['tools'],
    call: async (args: string[]) => {
      const { exit, stdout } = await captureCli(doubles, args);
      return { code: exit, stdout };
    },
  },
};

for (const [program, { routes, catalog, call }] of Object.entries(PROGRAMS)) {
  const answer = async (...args: string[]) => {
    const { code, stdout } = await call(args);
    assert.deepEqual(stdout.split('\n').length, 2, `${args.join(' ')}: ${stdout}`);
    return { code, ...JSON.parse(stdout) };
  };

  describe(`an agent that uses ${program}`, () => {
    it('discovers every command by `tools`, in one order, from the registry alone', async () => {
      const { data } = await answer(...catalog);
      const shown = await loadAll(routes as never);
      assert.deepEqual(
        data.tools.map(({ command }: Entry) => command),
        shown.map(({ command }) => `${program} ${command}`),
      );
      const keys = data.tools.map(({ category, name }: Entry) => `${category} ${name}`);
      assert.deepEqual(keys, keys.toSorted());
      for (const [at, { op }] of shown.entries()) {
        const entry: Entry = data.tools[at];
        const { flags, places } = helpWords(op, entry.command);
        assert.equal(entry.parameters.length, flags.length + places.length, entry.command);
      }
      assert.ok(data.globalFlags.length > 5);
      const one = await answer('tools', data.tools[0].name);
      assert.equal(one.data.name, data.tools[0].name);
    });

    it('classifies the readiness by `health`, with a fix for whatever is missing', async () => {
      const { data, error } = await answer('health');
      const report = data ?? error.details;
      assert.ok(['ready', 'degraded', 'blocked'].includes(report.status));
      for (const { status, fix } of report.checks) assert.ok(status === 'ok' || fix.length > 3);
    });

    it('gets a stable code, a hint and exit code 1 for each wrong call, and nothing else on stdout', async () => {
      for (const { command } of await loadAll(routes as never)) {
        const { code, ok, error } = await answer(...command.split(' '), '--no-such-flag-of-any-kind');
        assert.deepEqual([code, ok, error.code], [1, false, 'E_USAGE'], command);
        assert.ok(error.hint.length > 3, command);
      }
      const { code, error } = await answer('no-such-command');
      assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    });

    it('finds no flag for people, and one meaning of a flag in all commands', async () => {
      const kinds = new Map<string, Set<string>>();
      for (const { command, op } of await loadAll(routes as never))
        for (const { flag, kind, isPositional } of parametersOf(op)) {
          const isForPeople = kind === 'boolean' && /^(text|table|csv|tsv|pretty|plain)$/.test(flag);
          assert.ok(!isForPeople, `${command} --${flag}`);
          if (!isPositional) kinds.set(flag, (kinds.get(flag) ?? new Set()).add(kind));
        }
      const changing = [...kinds].filter(([, all]) => all.size > 1).map(([flag]) => flag);
      // The place to begin at: the number of an event, or the name of a step.
      assert.deepEqual(
        changing.filter((flag) => flag !== 'from'),
        [],
      );
    });

    it('can preview each command that changes something', async () => {
      const without = (await loadAll(routes as never))
        .filter(({ op }) => op.effect !== 'reads' && op.readsWithout === undefined)
        .filter(({ op }) => !parametersOf(op).some(({ key }) => key === 'dry_run'))
        .map(({ command }) => command)
        .filter((command) => !Object.hasOwn(WITHOUT_PREVIEW, command));
      assert.deepEqual(without, []);
    });
  });
}

describe('an agent that works with ACOR', () => {
  it('does a job from end to end by data and next steps, and scrapes nothing', async () => {
    const begun = await project.envelope(['init']);
    assert.ok(begun.ok, JSON.stringify(begun.error));
    const listed = await project.envelope(['list']);
    const [tool] = listed.data.tools;
    const { data: about } = await project.envelope(['describe', tool.name]);
    const args = (about.inputs ?? [])
      .filter(({ required }: { required: boolean }) => required)
      .flatMap(({ name }: { name: string }) => [`--${name}`, 'Ada']);
    const done = JSON.parse((await project.acor(['run', tool.name, '--no-stream', ...args])).stdout);
    assert.equal(done.ok, true, JSON.stringify(done));
    const { data: runs } = await project.envelope(['runs', '--fields', 'run_id,state']);
    assert.deepEqual(runs.runs, [{ run_id: done.data.run_id, state: 'completed' }]);
  });

  it('can do whatever the dashboard does: it calls operations, and nothing else', () => {
    const web = join(ROOT, 'web');
    const sources = readdirSync(web, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(web, name), 'utf8'));
    const called = sources.flatMap((text) =>
      [...text.matchAll(/\.call\(\s*'([a-z.-]+)'/g)].map(([, name]) => name!),
    );
    assert.ok(called.length > 5, String(called.length));
    const known = new Set(ROUTES.map(({ operation }) => operation));
    assert.deepEqual(
      called.filter((name) => !known.has(name)),
      [],
    );
  });
});
