/** Where a tool finds the certificates that it trusts, when the gateway ends some of its TLS. */
export const TRUST_FILE = '/etc/acor-authorities.pem';
/** The same ones in the format of Java, which reads no PEM. */
export const JAVA_TRUST_FILE = '/etc/acor-authorities.jks';

/**
 * The variables by which programs find certificates: OpenSSL, Python and Go; Node, Bun and Deno; requests and pip;
 * curl; git; the AWS command line; Cargo; Java.
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
  JAVA_TOOL_OPTIONS: `-Djavax.net.ssl.trustStore=${JAVA_TRUST_FILE} -Djavax.net.ssl.trustStoreType=JKS`,
};

/** A file that exists in the sandbox only. */
export interface TrustFile {
  path: string;
  content: string | Uint8Array;
}
