import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { projectFolder } from '../../../../test/support/project-folder.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { sdkPaths } from '../own-files.ts';
import { builtProgram } from './compiled.ts';

const PROGRAM = '#!/bin/sh\n';

describe('a tool in a language that is built first', () => {
  const project = projectFolder({
    'go/cli.go': 'package main\n',
    'go/inner/more.go': 'package inner\n',
    'rust/src/main.rs': 'fn main() {}\n',
  });
  after(() => project.remove());
  project.program('path/go', PROGRAM);
  project.program('path/cargo', PROGRAM);

  function program(language: 'go' | 'rust', path = project.at('path')): string {
    return builtProgram(language, {
      tool: 'mine',
      entry: project.at(`${language}/cli.go`),
      toolDir: project.at(language),
      toolsDir: null,
      env: { PATH: path },
      sdk: sdkPaths(),
    });
  }

  function refusal(act: () => unknown): AcorError {
    try {
      act();
    } catch (error) {
      assert.ok(error instanceof AcorError);
      return error;
    }
    throw new Error('it was not refused');
  }

  it('is refused until it is built, with the command that builds it', () => {
    const go = refusal(() => program('go'));
    assert.deepEqual(
      [go.code, go.message, commandsOf(go)],
      [
        'E_RUNTIME_MISSING',
        "tool 'mine' is written in Go and has not been built",
        [`(cd ${project.at('go')} && go build -buildvcs=false -o bin/cli .)`],
      ],
    );
    assert.match(commandsOf(refusal(() => program('rust')))[0]!, /&& cargo build .*--target-dir target\)$/);
  });

  it('says how to get the toolchain where there is none', () => {
    const { message, hint, details } = refusal(() => program('rust', '/nowhere'));
    assert.match(message, /cargo is not on the PATH/);
    assert.match(hint!, /^Install Rust.*rustup\.rs\/\. Then build it: \(cd /);
    assert.deepEqual(details, { runtime: 'cargo' });
  });

  it('runs what was built, and not what was built before a source was changed', () => {
    const go = project.program('go/bin/cli', PROGRAM);
    const rust = project.program('rust/target/release/cli', PROGRAM);
    assert.deepEqual([program('go', '/nowhere'), program('rust', '/nowhere')], [go, rust]);
    const later = Date.now() / 1000 + 60;
    utimesSync(project.at('go/inner/more.go'), later, later);
    assert.equal(
      refusal(() => program('go')).message,
      "tool 'mine' was built before inner/more.go was changed",
    );
    utimesSync(project.at('rust/target/release/cli'), later, later);
    project.write('rust/target/build/x.rs', '// newer, and no source of the tool\n');
    assert.equal(program('rust'), rust);
  });
});

function commandsOf({ next = [] }: AcorError): string[] {
  return next.map((step) => ('command' in step ? step.command : step.operation));
}
