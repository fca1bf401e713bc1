/** Whether this process is the compiled program: its modules are in a file system inside the executable. */
export const IS_COMPILED = import.meta.dirname.startsWith('/')
  ? import.meta.dirname.startsWith('/$bunfs')
  : /^[A-Z]:[\\/]~BUN/.test(import.meta.dirname);
