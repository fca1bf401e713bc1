/** The name of a secret; it is the name of a file as well, in the store and in `SECRETS_DIR`. */
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

export const SECRET_NAME_RULE =
  'must be usable as a file name: letters, digits, _ . and -, at most 128 of them, the first one no . or -';
