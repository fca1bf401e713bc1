/** What a run id looks like. Anything else is refused before it touches a path. */
export const RUN_ID_PATTERN = /^r-[0-9a-z][0-9a-z-]{0,62}$/;

/** The file version of `metadata.json`. */
export const RUN_RECORD_VERSION = 1;
