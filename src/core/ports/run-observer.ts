/** Observes the stored events of a run. A run may have any number of observers. An error of an observer is reported once as a `runner_warning` and does not fail the run. */
export interface RunObserver {
  /** Called with whole lines that were just stored. The bytes are only valid during the call. */
  stored(lines: Uint8Array): void;
}
