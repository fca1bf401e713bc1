/** How a compiled language gets from sources to the program that runs: built by its author, never by a run. */
export interface Recipe {
  /** As people call it. */
  title: string;
  toolchain: string;
  /** Run in the tool's folder. */
  build: readonly [string, ...string[]];
  /** The built program, from the tool's folder on. */
  built: string;
  /** Told by the bare name of a file. */
  isSource(name: string): boolean;
  install: string;
}
