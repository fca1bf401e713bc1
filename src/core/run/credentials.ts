import { basename } from 'node:path';

/** Folders in which programs keep keys and tokens. */
const FOLDERS =
  /\/(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.password-store|\.config\/(gcloud|gh|op)|etc\/ssl\/private)(\/|$)/;
const FILES =
  /^(\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.pgpass|\.my\.cnf|\.env(\..+)?|id_(rsa|dsa|ecdsa|ed25519)|.+\.(pem|key|p12|pfx|kdbx))$/;
const ACCOUNTS = /^\/etc\/(g?shadow|sudoers)\b/;

/** Whether a path looks like one that holds credentials, by its name. */
export function holdsCredentials(path: string): boolean {
  return ACCOUNTS.test(path) || FOLDERS.test(path) || FILES.test(basename(path));
}
