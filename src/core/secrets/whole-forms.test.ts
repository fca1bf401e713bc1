import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { wholeNeedlesOf } from './needles.ts';
import { WholeForms } from './whole-forms.ts';

const VALUE = 'Zq7-SuperSecretTok3n_9x';

describe('what a tool reads of a secret that it does not have', () => {
  const secret = { name: 'S', bytes: Buffer.from(VALUE) };
  const forms = new WholeForms([secret]);
  const needles = wholeNeedlesOf([secret]).map(({ bytes }) => bytes);

  it('has every whole form overwritten, in one piece and byte by byte', () => {
    for (const needle of needles) {
      const text = Buffer.concat([Buffer.from('before '), needle, Buffer.from(' after')]);
      const expected = `before ${'*'.repeat(needle.length)} after`;
      assert.equal(String(forms.cover(text)), expected);
      assert.equal(String(through(forms, [text])), expected);
      assert.equal(
        String(
          through(
            forms,
            [...text].map((byte) => Buffer.from([byte])),
          ),
        ),
        expected,
      );
    }
  });

  it('shows nothing of a part: the same number of bytes comes at each step, and no byte is overwritten', () => {
    const stepsOfNothing = new Map<number, ReturnType<typeof steps>>();
    for (const needle of needles) {
      for (let length = 1; length < needle.length; length++) {
        const nothing = stepsOfNothing.get(length) ?? steps(forms, Buffer.alloc(300 + length, '#'));
        stepsOfNothing.set(length, nothing);
        for (const part of [needle.subarray(0, length), needle.subarray(needle.length - length)]) {
          if (needles.some((other) => part.includes(other))) continue;
          const text = Buffer.concat([Buffer.alloc(300, '#'), part]);
          assert.deepEqual(steps(forms, text), nothing, String(part));
          assert.equal(String(through(forms, [text])), String(text));
        }
      }
    }
  });

  it('is overwritten as far as it has not been passed on when it comes with a pause', () => {
    const stream = forms.stream();
    const passed = [stream.push(Buffer.from(VALUE.slice(0, 5))), stream.flush()];
    passed.push(stream.push(Buffer.from(`${VALUE.slice(5)}.`)), stream.flush());
    assert.equal(Buffer.concat(passed).toString(), `${VALUE.slice(0, 5)}${'*'.repeat(VALUE.length - 5)}.`);
  });

  it('comes out the same however it is cut, and as a plain search would have it', () => {
    const random = new SeededRandom(Number(process.env['FUZZ_SEED'] ?? 31_415));
    for (let each = 0; each < 500; each++) {
      const secrets = ['a', 'b'].map((name) => ({
        name,
        bytes: Buffer.from(
          `#${Array.from({ length: 8 + random.below(9) }, () => random.pick(['a', 'b'])).join('')}`,
        ),
      }));
      const all = wholeNeedlesOf(secrets).map(({ bytes }) => bytes);
      const text = Buffer.concat(
        Array.from({ length: random.below(8) }, () => {
          const needle = random.pick(all);
          return random.chance(0.5)
            ? needle
            : needle.subarray(random.below(3), 1 + random.below(needle.length));
        }),
      );
      const expected = Buffer.from(text);
      for (const needle of all)
        for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1))
          expected.fill('*', at, at + needle.length);
      const found = new WholeForms(secrets);
      assert.equal(String(found.cover(text)), String(expected));
      const cuts: Buffer[] = [];
      for (let at = 0; at < text.length; at += cuts.at(-1)!.length)
        cuts.push(text.subarray(at, at + 1 + random.below(random.pick([1, 7, 300]))));
      assert.equal(String(through(found, cuts)), String(expected));
    }
  });
});

function through(forms: WholeForms, pieces: readonly Buffer[]): Buffer {
  const stream = forms.stream();
  return Buffer.concat([...pieces.map((piece) => stream.push(piece)), stream.flush()]);
}

/** How many bytes come out after each byte. */
function steps(forms: WholeForms, text: Buffer): number[] {
  const stream = forms.stream();
  return [...[...text].map((byte) => stream.push(Buffer.from([byte])).length), stream.flush().length];
}
