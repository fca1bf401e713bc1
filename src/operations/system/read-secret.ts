import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OperationContext } from '../../compose/operation.ts';
import { MAX_SECRET_BYTES } from '../../core/secrets/secret.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { storeSecret } from '../../protocol/next-steps.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';

const LF = 10;

/** Reads the value of a secret from a file, from the person at the terminal, or from standard input; drops one newline at its end. */
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
    const step = { operation: 'secret.set', input: { name }, why: 'Type the value again.' };
    throw new AcorError('E_USAGE', `no value was typed for ${name}, so nothing was stored`, {
      hint: 'Type the value, or store it from a file.',
      next: [step, storeSecret(name)],
    });
  }
  const text = await ctx.readStdin();
  if (!text.includes('\uFFFD')) return Buffer.from(text);
  throw new AcorError('E_USAGE', 'standard input is not valid UTF-8', {
    hint: 'Store the value from a file, which may have any bytes.',
    next: [storeSecret(name)],
  });
}

/** Reads at most slightly more than the limit, enough to detect that the value is too long; the file may also be a pipe. */
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
      hint: 'Pass the path of a file that contains only the value.',
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
