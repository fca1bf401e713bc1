import { HttpError } from './http-error.ts';

/** A parameter of an address that is no operation: which texts it takes, in words behind `must be`. */
interface QueryParameter {
  pattern: RegExp;
  rule: string;
}

/** Throws E_USAGE for a parameter that the address does not have, that is repeated, or whose value is of another type. */
export function checkQuery(query: URLSearchParams, known: Readonly<Record<string, QueryParameter>>): void {
  const names = Object.keys(known);
  for (const name of query.keys()) {
    if (!Object.hasOwn(known, name)) {
      const rest = names.length === 0 ? 'It takes none.' : `It takes: ${names.join(', ')}.`;
      throw new HttpError(400, 'E_USAGE', `there is no parameter ${JSON.stringify(name)} here`, {
        hint: rest,
      });
    }
    const { pattern, rule } = known[name]!;
    const given = query.getAll(name);
    if (given.length === 1 && pattern.test(given[0]!)) continue;
    throw new HttpError(400, 'E_USAGE', `${name} must be ${rule}, given once; got ${JSON.stringify(given)}`, {
      hint: `Correct the query string: ?${name}=…`,
    });
  }
}
