import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OperationContext } from '../../compose/operation.ts';
import { MAX_SECRET_BYTES } from '../../core/secrets/secret.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';
import { commandOf } from '../command-forms.ts';

const LF = 10;

/** Reads the value of a secret from a file, from a person, or from standard input; one newline at its end is not part of it. */
export async function readSecret(
  name: string,
  file: string | undefined,
  ctx: OperationContext<AcorApp>,
): Promise<Buffer> {
  const bytes = await bytesFrom(name, file, ctx);
  return bytes.at(-1) === LF ? bytes.subarray(0, -1) : bytes;
}

async function bytesFrom(
  name: string,
  file: string | undefined,
  ctx: OperationContext<AcorApp>,
): Promise<Buffer> {
  if (file !== undefined) return readUpToLimit(resolve(ctx.cwd, file));
  if (ctx.person !== null) {
    const typed = await ctx.person.askForSecret(`The value of ${name} (it is not shown)`);
    if (typed !== undefined) return Buffer.from(typed);
    const step = { operation: 'secret.set', input: { name }, why: 'Ask for the value again.' };
    const command = commandOf(step);
    throw new AcorError('E_USAGE', `the question for ${name} was left: nothing was stored`, {
      hint: `Ask again with: ${command}; or give the value in a file: ${command} --file FILE`,
      next: [step],
    });
  }
  const text = await ctx.readStdin();
  if (!text.includes('\uFFFD')) return Buffer.from(text);
  throw new AcorError('E_USAGE', 'what came on standard input is no UTF-8', {
    hint: `Give it in a file: acor secret set ${name} --file FILE`,
  });
}

/** One byte over the limit is enough to see that it is too long; the file may also be a pipe. */
function readUpToLimit(path: string): Buffer {
  const buffer = Buffer.alloc(MAX_SECRET_BYTES + 2);
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    let used = 0;
    for (let count = 1; count > 0 && used < buffer.length; used += count) {
      count = readSync(fd, buffer, used, buffer.length - used, null);
    }
    return buffer.subarray(0, used);
  } catch (error) {
    throw new AcorError('E_INPUT_NOT_FOUND', `cannot read ${path}: ${errorMessage(error)}`, {
      hint: 'Give the path of a file that holds the value and nothing else.',
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
