import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { draftInputs } from './draft-inputs.ts';
import { offersOf } from './offers.ts';
import { readHelp } from './read-help.ts';

describe('the offers of a draft', () => {
  const offered = (text: string) => {
    const help = readHelp(text, ['x']);
    return offersOf(text, help, draftInputs(help).leftOut).map(({ key }) => key);
  };

  it('are extra_args where an option is not among the inputs', () => {
    assert.deepEqual(offered('  --bind SRC DEST  x\n  --one ONE  x\n'), ['extra_args']);
    assert.deepEqual(offered('  --force-<thing>  x\n  --one ONE  x\n'), ['extra_args']);
    assert.deepEqual(offered('  --one ONE  x\n'), []);
  });

  it('are the project as working folder where the help speaks of one', () => {
    assert.deepEqual(offered('Show the working tree status\n  --short  x\n'), ['cwd']);
    assert.deepEqual(offered('  -f FILE  Read FILE as a makefile.\n'), ['cwd']);
    assert.deepEqual(offered('  -f FILE  Read FILE as a list.\n'), []);
  });
});
