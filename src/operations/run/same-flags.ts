/**
 * The options of a dry run for the call that does what it has shown: all that differ from their defaults, whatever they are. The token of
 * the plan is a new one.
 */
export function sameFlags(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { dry_run: _, plan: __, ...others } = options;
  return Object.fromEntries(Object.entries(others).filter(([name, value]) => !isDefault(name, value)));
}

/** `--no-stream` is not the default: it depends on the caller. */
function isDefault(name: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (
    value === undefined ||
    (value === false && name !== 'stream') ||
    (name === 'exit_code' && value === 'acor')
  );
}
