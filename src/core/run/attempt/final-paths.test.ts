import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Workspaces } from '../workspace.ts';
import { FinalPaths, finalPathsIn } from './final-paths.ts';

const workspace = new Workspaces('/p/.runs').of('r-1m83g54gg1grh6sd');
const output = (name: string, target: string) => ({
  input: 'o',
  target,
  staged: `${workspace.staging}/o/${name}`,
});
const outputs = [output('a.txt', '/p/x/a.txt'), output('a.txt2', '/q/a.txt2'), output('é "x"', '/p/é "x"')];

function through(text: string, cut: number, json = true): string {
  const paths = new FinalPaths(outputs, workspace, { json });
  const bytes = Buffer.from(text);
  const parts = [paths.push(bytes.subarray(0, cut)), paths.push(bytes.subarray(cut)), paths.end()];
  return Buffer.concat(parts.map((part) => Buffer.from(part))).toString();
}

describe('the final paths of outputs in a stream', () => {
  it('replace absolute and relative paths, wherever the stream is cut', () => {
    const text = `{"a":"${outputs[0]!.staged}","b":"${outputs[1]!.staged}","c":".staged/o/a.txt","d":".staged/else"}\n${workspace.work}/other\n`;
    const wanted = `{"a":"/p/x/a.txt","b":"/q/a.txt2","c":"/p/x/a.txt","d":".staged/else"}\n${workspace.work}/other\n`;
    for (let cut = 0; cut <= text.length; cut++) assert.equal(through(text, cut), wanted, `cut at ${cut}`);
  });

  it('replace what programs write for other characters in JSON', () => {
    const staged = JSON.stringify(outputs[2]!.staged);
    const ascii = staged.replace('é', '\\u00e9');
    const php = staged.replaceAll('/', '\\/');
    for (const given of [staged, ascii, php])
      assert.equal(JSON.parse(through(`{"p":${given}}\n`, 7)).p, '/p/é "x"', given);
    assert.equal(through(`wrote ${outputs[2]!.staged}`, 9, false), 'wrote /p/é "x"');
  });

  it('stand in messages of the runner', () => {
    assert.equal(finalPathsIn(`no ${outputs[0]!.staged}/b`, outputs, workspace), 'no /p/x/a.txt/b');
  });

  it('leave an output that stays in the workspace at its place', () => {
    const staying = [{ ...outputs[0]!, stays: true as const }];
    assert.equal(finalPathsIn(staying[0]!.staged, staying, workspace), staying[0]!.staged);
  });
});
