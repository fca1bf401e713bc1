/** The version of ACOR; equal to the one in `package.json`. */
export const ACOR_VERSION = '0.1.0';
