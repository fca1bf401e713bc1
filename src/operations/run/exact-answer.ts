import { AcorError } from '../../protocol/acor-error.ts';
import { lossOf } from '../../util/exact-json.ts';

/** An answer that was parsed from a JSON text. Throws E_USAGE for a text of which a part would be changed or lost. */
export function exactAnswer(value: unknown, json: string, source: string): unknown {
  const loss = lossOf(json, value);
  if (loss === undefined) return value;
  throw new AcorError('E_USAGE', `${source} ${loss.mistake}`, { hint: loss.fix });
}
