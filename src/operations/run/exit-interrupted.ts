/** What a shell expects of a program that Ctrl-C ended. */
export const EXIT_INTERRUPTED = 130;
