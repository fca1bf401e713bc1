import type { TreeChange, Unfit } from '../../util/change-tree.ts';
import type { KeptPlace } from './kept-run.ts';

/** A change of a run in a place that ACOR keeps, with the place's own path before it. */
export interface PlacedChange extends TreeChange {
  place: KeptPlace;
  path: string;
  /** Set when it is never applied. */
  unfit: Unfit | undefined;
}
