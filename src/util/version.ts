/** The version of ACOR, which `package.json` repeats. */
export const ACOR_VERSION = '0.1.0';
