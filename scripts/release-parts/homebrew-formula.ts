import type { Digests } from './digests.ts';

/** The systems and processors of Homebrew, in its words, with the names of ours. */
const SYSTEMS = {
  on_macos: { on_arm: 'darwin-arm64', on_intel: 'darwin-x64' },
  on_linux: { on_arm: 'linux-arm64', on_intel: 'linux-x64' },
} as const;

/** A formula for the programs that the release has. */
export function homebrewFormula({
  version,
  url,
  digests,
}: {
  version: string;
  url: string;
  digests: Digests;
}): string {
  const systems = Object.entries(SYSTEMS).flatMap(([system, processors]) => {
    const blocks = Object.entries(processors).flatMap(([processor, id]) => {
      const digest = digests.get(`acor-${id}`);
      if (digest === undefined) return [];
      return [`    ${processor} do`, `      url "${url}/acor-${id}"`, `      sha256 "${digest}"`, '    end'];
    });
    return blocks.length === 0 ? [] : [`  ${system} do`, ...blocks, '  end', ''];
  });
  return [
    'class Acor < Formula',
    '  desc "Runs command-line tools for AI agents: checked, supervised, limited, recorded"',
    `  homepage "${url}"`,
    `  version "${version}"`,
    '  license "Apache-2.0"',
    '',
    ...systems,
    '  def install',
    '    bin.install Dir["acor-*"].first => "acor"',
    '    (man1/"acor.1").write Utils.safe_popen_read(bin/"acor", "man")',
    '    generate_completions_from_executable(bin/"acor", "complete")',
    '  end',
    '',
    '  test do',
    '    system bin/"acor", "self-test"',
    '  end',
    'end',
    '',
  ].join('\n');
}
