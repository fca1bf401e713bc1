import type { Platform } from '../platforms.ts';

/** What the changelog says of a version, and which programs the test suite has run. */
export function releaseNotes(changelog: string, version: string, built: readonly Platform[]): string {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find(
    (each) => each.startsWith(`## ${version} `) || each.startsWith(`## ${version}\n`),
  );
  if (section === undefined) throw new Error(`CHANGELOG.md has no section '## ${version}'`);
  const rows = built.map(
    ({ id, isVerified }) => `| ${id} | ${isVerified ? 'by the test suite' : 'no: built only'} |`,
  );
  return `${section.trim()}\n\n### Programs\n\n| platform | verified |\n|---|---|\n${rows.join('\n')}\n`;
}
