/** Where a tool finds the certificates that it trusts, when the gateway ends some of its TLS. */
export const TRUST_FILE = '/etc/acor-authorities.pem';

/**
 * The variables by which programs find certificates: OpenSSL, Python and Go; Node, Bun and Deno; requests and pip;
 * curl; git; the AWS command line; Cargo.
 */
export const TRUST_ENVIRONMENT: Readonly<Record<string, string>> = {
  SSL_CERT_FILE: TRUST_FILE,
  NODE_EXTRA_CA_CERTS: TRUST_FILE,
  DENO_CERT: TRUST_FILE,
  REQUESTS_CA_BUNDLE: TRUST_FILE,
  PIP_CERT: TRUST_FILE,
  CURL_CA_BUNDLE: TRUST_FILE,
  GIT_SSL_CAINFO: TRUST_FILE,
  AWS_CA_BUNDLE: TRUST_FILE,
  CARGO_HTTP_CAINFO: TRUST_FILE,
};
