/** The build step of a compiled language. The author builds; a run never does. */
export interface Recipe {
  /** The name of the language in messages. */
  title: string;
  toolchain: string;
  /** Run in the tool's folder. */
  build: readonly [string, ...string[]];
  /** The built program, relative to the tool's folder. */
  built: string;
  /** Matches a source file by its base name. */
  isSource(name: string): boolean;
  install: string;
}
