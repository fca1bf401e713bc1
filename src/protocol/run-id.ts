/** The form of a run id. Anything else is rejected before it is used in a path. */
export const RUN_ID_PATTERN = /^r-[0-9a-z][0-9a-z-]{0,62}$/;

/** The format version of `metadata.json`. */
export const RUN_RECORD_VERSION = 1;
