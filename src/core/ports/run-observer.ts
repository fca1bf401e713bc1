/** Sees what a run stores. Any number may observe a run; what one throws is reported once as a `runner_warning` and cannot fail the run. */
export interface RunObserver {
  /** Whole lines that were just stored. The bytes are only valid during the call. */
  stored(lines: Uint8Array): void;
}
