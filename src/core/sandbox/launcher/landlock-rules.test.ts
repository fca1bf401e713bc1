import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LANDLOCK_ACCESS, landlockRecords } from './landlock-rules.ts';

/** Bits of linux/landlock.h. */
const MAKE_CHAR_DEVICE = 1 << 6;
const MAKE_BLOCK_DEVICE = 1 << 11;
const EVERY_RIGHT = 0xffff;

/** The seccomp filter refuses most of this as well; these tests are about Landlock alone. */
describe('the rights that Landlock grants', () => {
  it('let no path be written to and executed, nor get device files', () => {
    const left = EVERY_RIGHT & ~LANDLOCK_ACCESS.write;
    assert.equal(left, LANDLOCK_ACCESS.execute | MAKE_CHAR_DEVICE | MAKE_BLOCK_DEVICE);
    assert.equal(LANDLOCK_ACCESS.readAndExecute, LANDLOCK_ACCESS.read | LANDLOCK_ACCESS.execute);
    assert.equal(LANDLOCK_ACCESS.read, 4 | 8);
  });

  it('are all handled for a tool, with TCP, signals and abstract sockets', () => {
    const rules = [
      { path: '/work', access: LANDLOCK_ACCESS.write, isGrant: true },
      { path: '/usr', access: LANDLOCK_ACCESS.read },
    ];
    assert.deepEqual(
      landlockRecords({ handled: 'everything', rules }).filter((record) => !record.startsWith('nofollow=')),
      [
        `handled=${EVERY_RIGHT}`,
        'net=3',
        'scope=3',
        `rule=exact:${LANDLOCK_ACCESS.write}:/work`,
        'rule=plain:12:/usr',
      ],
    );
  });

  it('are only those of executing, and of moving anywhere, where mounts have done the rest', () => {
    assert.deepEqual(
      landlockRecords({ handled: 'execute', rules: [] }).filter((record) => !record.startsWith('nofollow=')),
      [`handled=${1 | (1 << 13)}`, 'net=0', 'scope=0', `rule=plain:${1 << 13}:/`],
    );
  });
});
