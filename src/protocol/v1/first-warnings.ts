/** An answer with more of them would hide its data. The log has all of them. */
const MAX_KEPT = 20;

/** Keeps the message of a `runner_warning`, unless the same one is kept already. */
export function keepWarning(kept: string[], event: Readonly<Record<string, unknown>>): void {
  if (event.type !== 'runner_warning' || kept.length === MAX_KEPT) return;
  const msg = String(event.msg);
  if (!kept.includes(msg)) kept.push(msg);
}
