/** The base system: programs and libraries, which every tool may read. On most systems some of these are links into /usr. */
export const BASE_FOLDERS: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
  ...['/nix/store', '/gnu/store'],
];
