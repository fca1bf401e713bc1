import type * as z from 'zod';

/** A schema as its definition tells it. */
export type Schema = z.core.$ZodTypes;

/** Which value of a schema that converts is meant: what is given, or what comes out. */
export type Side = 'input' | 'output';

/** The plain alternatives behind wrappers (optional, default, …), unions, intersections and lazies. */
export function alternatives(schema: z.core.$ZodType, side: Side): Schema[] {
  const found: Schema[] = [];
  // A recursive schema comes back to itself.
  const seen = new Set<z.core.$ZodType>();
  const visit = (each: z.core.$ZodType): void => {
    if (seen.has(each)) return;
    seen.add(each);
    const inner = behind(each as Schema, side);
    if (inner === undefined) found.push(each as Schema);
    else inner.forEach(visit);
  };
  visit(schema);
  return found;
}

function behind(schema: Schema, side: Side): z.core.$ZodType[] | undefined {
  const def = schema._zod.def;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return [def.innerType];
    case 'pipe': {
      // A conversion says nothing of its own about the value, so the schema beside it speaks.
      const [chosen, other] = side === 'input' ? [def.in, def.out] : [def.out, def.in];
      const isSilent = (chosen as Schema)._zod.def.type === 'transform';
      return [isSilent && side === 'input' ? other : chosen];
    }
    case 'union':
      return [...def.options];
    case 'intersection':
      return [def.left, def.right];
    case 'lazy':
      // Kept by zod: the getter itself may make a new schema at each call.
      return [(schema as z.core.$ZodLazy)._zod.innerType];
    default:
      return undefined;
  }
}
