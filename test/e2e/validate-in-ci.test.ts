import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

/** Reads the report with the XML parser of Python, as programs that show such reports do. */
const READ = `
import json, sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()[0]
print(json.dumps({**suite.attrib, "cases": [{**case.attrib, "failure": [part.attrib["message"] for part in case.findall("failure")]} for case in suite]}))
`;

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
    const report = JSON.parse(
      execFileSync('python3', ['-c', READ, project.path('report.xml')], { encoding: 'utf8' }),
    ) as { failures: string; cases: { classname: string; name: string; failure: string[] }[] };
    const failed = report.cases.filter(({ failure }) => failure.length > 0);
    assert.deepEqual(
      failed.map(({ classname, name }) => `${classname} ${name}`),
      ['selftest broken', 'tool wrong'],
    );
    assert.equal(report.failures, '2');
    const passed = report.cases.filter(({ failure }) => failure.length === 0);
    assert.ok(passed.some(({ classname, name }) => classname === 'selftest' && name === 'tested'));
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
  });

  it('writes no report with --dry-run, and says when it cannot write one', async () => {
    await project.envelope(['validate', '--dry-run', '--junit', 'report.xml']);
    assert.equal(existsSync(project.path('report.xml')), false);
    const { error } = await project.envelope(['validate', '--junit', 'nowhere/report.xml']);
    assert.deepEqual([error.code, /cannot write the report/.test(error.message)], ['E_USAGE', true]);
  });

  it('replaces an earlier report, and no other file, before it changes anything', async () => {
    const entry = project.path('tools/wrong/cli.sh');
    const folder = project.path('tools');
    for (const [path, message] of [
      [entry, /cli\.sh is not a JUnit report/],
      [project.write('pom.xml', '<?xml version="1.0"?>\n<project/>\n'), /is not a JUnit report/],
      [project.write('empty.xml', ''), /is not a JUnit report/],
      [folder, /cannot write the report/],
    ] as const) {
      const before = statSync(path).mtimeMs;
      const { error } = await project.envelope(['validate', '--fix', '--junit', path]);
      assert.deepEqual([error.code, statSync(path).mtimeMs], ['E_USAGE', before]);
      assert.match(error.message, message);
    }
    assert.equal(readFileSync(entry, 'utf8'), '#!/bin/bash\n');
    const report = project.write('report.xml', '<testsuite />\n');
    for (let time = 0; time < 2; time++) {
      const { error } = await project.envelope(['validate', '--junit', 'report.xml']);
      assert.equal(error.code, 'E_MANIFEST_INVALID');
      assert.match(readFileSync(report, 'utf8'), /<testsuites tests=/);
    }
  });
});
