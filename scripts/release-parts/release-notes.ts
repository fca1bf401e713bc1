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
  // A release has no docs folder.
  const changes = section.trim().replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1');
  return `${changes}\n\n${INSTALL}\n### Programs\n\n| platform | verified |\n|---|---|\n${rows.join('\n')}\n`;
}

const INSTALL = `### Install and verify

npm: \`npm install --global acor\`. One program, on Linux x64 (other platforms have a name of their own, below):

\`\`\`sh
sha256sum --check --ignore-missing SHA256SUMS
install -m 755 acor-linux-x64 /usr/local/bin/acor
acor self-test
\`\`\`
`;
