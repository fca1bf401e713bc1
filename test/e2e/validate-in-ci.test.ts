import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

/** Reads the report with the XML parser of Python, as programs that show such reports do. */
const READ = `
import json, sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()[0]
texts = lambda case, kind: [part.attrib["message"] for part in case.findall(kind)]
print(json.dumps({**suite.attrib, "cases": [{**case.attrib, "failure": texts(case, "failure"), "skipped": texts(case, "skipped")} for case in suite]}))
`;

interface Report {
  failures: string;
  skipped: string;
  cases: { classname: string; name: string; failure: string[]; skipped: string[] }[];
}

function readReport(): Report {
  const path = project.path('report.xml');
  return JSON.parse(execFileSync('python3', ['-c', READ, path], { encoding: 'utf8' }));
}

let project: TestProject;
beforeEach(() => {
  project = new TestProject({ tools: ['quick'] });
  project.write('tools/tested/cli.sh', '#!/bin/bash\nexit 0\n', 0o755);
  project.write('tools/tested/tool.yaml', 'name: tested\nversion: 1.0.0\nhealth: { selftest: ["--x"] }\n');
  project.write('tools/broken/cli.sh', '#!/bin/bash\nexit 7\n', 0o755);
  project.write('tools/broken/tool.yaml', 'name: broken\nversion: 1.0.0\nhealth: { selftest: ["--x"] }\n');
  project.write('tools/wrong/cli.sh', '#!/bin/bash\n', 0o755);
  project.write('tools/wrong/tool.yaml', 'name: wrong\nversion: 1.0.0\n"a<&\\u0001\\n::error::b": 1\n');
});
afterEach(() => project[Symbol.dispose]());

describe('acor validate in a CI job', () => {
  it('writes a JUnit report with a case for each tool and each self-test, whatever manifests hold', async () => {
    const { ok } = await project.envelope(['validate', '--selftest', '--junit', 'report.xml']);
    assert.equal(ok, false);
    const report = readReport();
    const failed = report.cases.filter(({ failure }) => failure.length > 0);
    assert.deepEqual(
      failed.map(({ classname, name }) => `${classname} ${name}`),
      ['selftest broken', 'tool wrong'],
    );
    assert.equal(report.failures, '2');
    const passed = report.cases.filter(({ failure }) => failure.length === 0);
    assert.ok(passed.some(({ classname, name }) => classname === 'selftest' && name === 'tested'));
  });

  it('counts a self-test that did not run as skipped, with the reason', async () => {
    project.write('tools/wrong/tool.yaml', 'name: wrong\nbogus: 1\nhealth: { selftest: ["--x"] }\n');
    await project.envelope(['validate', '--selftest', '--junit', 'report.xml']);
    const { cases, skipped } = readReport();
    const untested = cases.filter((each) => each.skipped.length > 0);
    assert.deepEqual(
      untested.map(({ classname, name, skipped: why }) => [classname, name, ...why]),
      [
        ['selftest', 'quick', 'the manifest declares no self-test'],
        ['selftest', 'wrong', 'the tool cannot be used, see its findings'],
      ],
    );
    assert.equal(skipped, '2');
    const ran = cases.filter(({ classname, skipped: why }) => classname === 'selftest' && why.length === 0);
    assert.deepEqual(
      ran.map(({ name }) => name),
      ['broken', 'tested'],
    );
  });

  it('places a failed self-test in the header of a script', async () => {
    const script = project.write(
      'header.py',
      '#!/usr/bin/env python3\n# acor: name: header\n# acor: health: { selftest: ["--x"] }\nraise SystemExit(9)\n',
    );
    const args = ['validate', 'header.py', '--selftest', '--junit', 'report.xml'];
    const { error } = await project.envelope(args);
    const found = error.details.findings.filter(({ rule }: { rule: string }) => rule === 'selftest');
    assert.deepEqual([found.length, found[0].file, found[0].line], [1, script, 3]);
    assert.equal(readReport().failures, '1');
  });

  for (const [file, rest] of [
    ['.acor/policy.yaml', 'max_levl: standard\n'],
    ['.acor/config.yaml', 'bogus: 1\n'],
  ] as const)
    it(`reports a mistake in ${file} everywhere, also when it writes or runs self-tests`, async () => {
      await project.envelope(['validate', 'quick', '--junit', 'report.xml']);
      assert.equal(readReport().failures, '0');
      project.write(file, `version: 1\n${rest}`);
      for (const extra of [[], ['--selftest'], ['--selftest', 'tested']]) {
        const args = ['validate', '--ci', '--junit', 'report.xml', ...extra];
        const { stdout, stderr } = await project.acor(args);
        const { error } = JSON.parse(stdout);
        assert.equal(error.code, 'E_CONFIG_INVALID');
        const wrong = error.details.findings.filter(
          (each: { file: string; severity: string }) => each.file.endsWith(file) && each.severity === 'error',
        );
        assert.deepEqual(
          wrong.map(({ rule, line }: { rule: string; line: number }) => [rule, line]),
          [['unknown-key', 2]],
        );
        assert.match(stderr, new RegExp(`^::error file=${file},line=2`, 'm'));
        const { cases } = readReport();
        assert.ok(cases.some(({ name, failure }) => name === file && failure.length === 1));
        const untested = cases.filter(({ classname }) => classname === 'selftest');
        assert.ok(untested.every(({ skipped, failure }) => skipped.length === 1 && failure.length === 0));
      }
    });

  it('fixes a policy that is invalid', async () => {
    project.write('.acor/policy.yaml', 'version: 1\nmax_levl: standard\n');
    await project.envelope(['validate', '--fix']);
    assert.equal(
      readFileSync(project.path('.acor/policy.yaml'), 'utf8'),
      'version: 1\nmax_level: standard\n',
    );
  });

  it('annotates each finding at its line, and no manifest can write another command', async () => {
    const { stderr, stdout } = await project.acor(['validate', '--ci']);
    const { findings } = JSON.parse(stdout).error.details as { findings: { severity: string }[] };
    const commands = stderr.split('\n').filter((line) => line.startsWith('::'));
    assert.equal(commands.length, findings.length);
    assert.ok(
      commands.every((line) => /^::(error|warning) file=[^,]+(,line=\d+,col=\d+)?,title=[\w-]+::/.test(line)),
    );
    assert.ok(commands.some((line) => line.startsWith('::error file=tools/wrong/tool.yaml,line=3,')));
    project.write('.acor/policy.yaml', 'max_levl: standard\n');
    const { stderr: asked } = await project.acor(['validate', '--ci', '--junit', 'report.xml']);
    const fixed = "; did you mean 'max_level'? Write 'max_level', or leave it out.";
    assert.ok(asked.includes(fixed), asked);
    assert.ok(readFileSync(project.path('report.xml'), 'utf8').includes(fixed));
  });

  it('writes no report with --dry-run, and says when it cannot write one', async () => {
    await project.envelope(['validate', '--dry-run', '--junit', 'report.xml']);
    assert.equal(existsSync(project.path('report.xml')), false);
    const { error } = await project.envelope(['validate', '--junit', 'nowhere/report.xml']);
    assert.deepEqual([error.code, /cannot write the report/.test(error.message)], ['E_USAGE', true]);
    const unnamed = (await project.envelope(['validate', '--junit', ''])).error;
    assert.equal(unnamed.code, 'E_USAGE');
    assert.match(unnamed.message, /--junit must have at least 1 character/);
  });

  it('replaces an earlier report, and no other file, before it changes anything', async () => {
    const entry = project.path('tools/wrong/cli.sh');
    const folder = project.path('tools');
    for (const [path, message] of [
      [entry, /cli\.sh is not a report/],
      [project.write('pom.xml', '<?xml version="1.0"?>\n<project/>\n'), /is not a report of 'acor validate'/],
      [
        project.write('jest.xml', '<testsuites name="jest tests" tests="1"/>\n'),
        /is not a report of 'acor validate'/,
      ],
      [
        project.write('pytest.xml', '<?xml version="1.0"?>\n<testsuites><testsuite/></testsuites>\n'),
        /is not a report of 'acor validate'/,
      ],
      [project.write('empty.xml', ''), /is not a report of 'acor validate'/],
      [folder, /cannot write the report/],
    ] as const) {
      const before = statSync(path).mtimeMs;
      const { error } = await project.envelope(['validate', '--fix', '--junit', path]);
      assert.deepEqual([error.code, statSync(path).mtimeMs], ['E_USAGE', before]);
      assert.match(error.message, message);
    }
    assert.equal(readFileSync(entry, 'utf8'), '#!/bin/bash\n');
    for (let time = 0; time < 2; time++) {
      const { error } = await project.envelope(['validate', '--junit', 'report.xml']);
      assert.equal(error.code, 'E_MANIFEST_INVALID');
      assert.equal(readReport().failures, '1');
    }
  });
});
