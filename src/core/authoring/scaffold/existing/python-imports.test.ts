import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moveImports, sdkSignatures, signaturesIn } from './python-imports.ts';

const HELPER = `
def _emit(payload): pass
def emit_start(step, **kw): pass
def emit_progress(pct, step, msg=""): pass
def emit_result(status: str = "ok", *, data=None, **kw) -> None: pass
def emit_error(code,msg,hint="",**kw): pass
`;

function moved(source: string) {
  return moveImports(source, signaturesIn(HELPER), sdkSignatures());
}

describe('imports of the old helper', () => {
  it('are moved to the SDK, and nothing else of the file is touched', () => {
    const source = [
      'import sys\r\n',
      'from _lib.protocol import emit_start  # noqa\r\n',
      'try:\n    from protocol import (\n        emit_start as begin,  # one\n        emit_error,\n    )\n',
      'finally: pass\nfrom protocol import emit_start, \\\n    emit_error\n',
      'from protocols import emit_start\nfrom my.protocol import emit_start\n# from protocol import emit_start\n',
    ].join('');
    const { text, lines, kept } = moved(source);
    assert.equal(
      text,
      source
        .replace('from _lib.protocol', 'from acor.protocol')
        .replaceAll(/^( *)from protocol /gm, '$1from acor.protocol '),
    );
    assert.deepEqual(
      lines.map(({ line, after }) => [line, after]),
      [
        [2, 'from acor.protocol import emit_start'],
        [4, 'from acor.protocol import ('],
        [9, 'from acor.protocol import emit_start, \\'],
      ],
    );
    assert.deepEqual(kept, []);
    assert.deepEqual(moved(text).lines, []);
  });

  it('of the whole module are moved with its name', () => {
    const uses = '\nprotocol.emit_start("x")\np.emit_error("E", "m")\n';
    for (const [before, after] of [
      ['from _lib import protocol', 'from acor import protocol'],
      ['import protocol', 'from acor import protocol'],
      ['import _lib.protocol as p', 'from acor import protocol as p'],
      ['import protocol as p  # short', 'from acor import protocol as p  # short'],
    ] as const)
      assert.equal(moved(before + uses).text, after + uses);
  });

  it('stay, with the reason, where the SDK does not offer the same', () => {
    for (const [source, why] of [
      ['from protocol import emit_start, _emit\n', /has no '_emit'/],
      [
        'from protocol import emit_progress\n',
        /takes \(pct, step, msg\), that of acor\.protocol \(step, pct, msg\)/,
      ],
      ['from protocol import *\n', /imports everything/],
      ['from protocol import emit_log\n', /does not define 'emit_log'/],
      ['import protocol\nprotocol._emit({})\n', /has no '_emit'/],
      ['import _lib.protocol\n_lib.protocol.emit_start("x")\n', /full name/],
    ] as const) {
      const { text, lines, kept } = moved(source);
      assert.deepEqual([text, lines], [source, []]);
      assert.match(kept[0]!.why, why);
    }
  });
});
