/** What the names in a path stand for, and how a path is followed. All are absolute. */
export interface Places {
  project: string;
  workspace: string;
  toolDir: string;
  home: string;
  /** Follows links; what does not exist is taken as written. */
  realPath(path: string): string;
}

/**
 * The folder or file at the root of what a manifest's or a policy's path stands for: names are put in, and what follows the
 * first wildcard is cut off. A path without a beginning is relative to the project.
 */
export function rootOf(path: string, places: Places): string {
  const named = path
    .replace(/^\$(?:\{PROJECT\}|PROJECT(?=\/|$))/, places.project)
    .replace(/^\$(?:\{TOOL_DIR\}|TOOL_DIR(?=\/|$))/, places.toolDir)
    .replace(/^(?:\$\{WORKSPACE\}|\$WORKSPACE(?=\/|$)|\.(?=\/|$))/, places.workspace)
    .replace(/^~(?=\/|$)/, places.home);
  const segments = (named.startsWith('/') ? named : `${places.project}/${named}`).split('/');
  const wild = segments.findIndex((segment) => /[*?[{]/.test(segment));
  return normal(wild === -1 ? segments : segments.slice(0, wild));
}

/** Whether a path lies in a folder, both as written and when every link is followed. */
export function isWithin(path: string, folder: string, { realPath }: Places): boolean {
  return contains(folder, path, realPath) && contains(folder, realPath(path), realPath);
}

function contains(folder: string, path: string, realPath: Places['realPath']): boolean {
  return [folder, realPath(folder)].some(
    (each) => each === '/' || path === each || path.startsWith(`${each}/`),
  );
}

/** `..` is taken as written: what links do to it shows when the path is followed. */
function normal(segments: readonly string[]): string {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}
