/** How a folder is written, from the least careful to the strictest. */
export const WRITE_MODES = ['in_place', 'snapshot', 'review'] as const;

/** `in_place`: at once. `snapshot`: at once, after a copy was made, for undo. `review`: into a layer that is applied later. */
export type WriteMode = (typeof WRITE_MODES)[number];

export function strictestMode(...modes: readonly WriteMode[]): WriteMode {
  return WRITE_MODES.findLast((mode) => modes.includes(mode)) ?? 'in_place';
}
