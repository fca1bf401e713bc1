import type * as z from 'zod';

/** A schema's own definition. */
export type Schema = z.core.$ZodTypes;

/** Which side of a converting schema: its input or its output. */
export type Side = 'input' | 'output';

/** The plain alternatives behind wrappers (optional, default, …), unions, intersections and lazies. */
export function alternatives(schema: z.core.$ZodType, side: Side): Schema[] {
  const found: Schema[] = [];
  // A recursive schema refers back to itself.
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
      // A conversion does not describe the value, so the other schema of the pair is used.
      const [chosen, other] = side === 'input' ? [def.in, def.out] : [def.out, def.in];
      const isSilent = (chosen as Schema)._zod.def.type === 'transform';
      return [isSilent && side === 'input' ? other : chosen];
    }
    case 'union':
      return [...def.options];
    case 'intersection':
      return [def.left, def.right];
    case 'lazy':
      // Zod caches this; the getter itself may create a new schema at each call.
      return [(schema as z.core.$ZodLazy)._zod.innerType];
    default:
      return undefined;
  }
}
