import { boundedText } from './bounded-file.ts';
import { bashOptions, fishOptions, zshOptions } from './completion-options.ts';
import type { FoundOption, ReadHelp } from './help-shape.ts';
import type { FurtherText } from './manual-page.ts';

/** Where a shell has the completion of a program, and how the options in it are read. */
interface Shell {
  name: string;
  files(program: string): string[];
  optionsOf(text: string, words: readonly string[]): FoundOption[];
}

const SHELLS: readonly Shell[] = [
  {
    name: 'zsh',
    files: (program) => [`zsh/site-functions/_${program}`, `zsh/vendor-completions/_${program}`],
    optionsOf: (text, words) => (words.length > 1 ? [] : zshOptions(text)),
  },
  {
    name: 'fish',
    files: (program) => [`fish/vendor_completions.d/${program}.fish`, `fish/completions/${program}.fish`],
    optionsOf: fishOptions,
  },
  {
    name: 'bash',
    files: (program) => [
      `bash-completion/completions/${program}`,
      `bash-completion/completions/${program}.bash`,
    ],
    optionsOf: (text, words) => (words.length > 1 ? [] : bashOptions(text)),
  },
];

/**
 * What the first shell with options for this program or subcommand knows of it. The files are read as text; no shell reads
 * them.
 */
export function completionOf(folders: readonly string[], words: readonly string[]): FurtherText | undefined {
  const program = words[0]!;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.+-]*$/.test(program)) return undefined;
  for (const { name, files, optionsOf } of SHELLS)
    for (const folder of folders)
      for (const file of files(program)) {
        const options = optionsOf(boundedText(folder, file) ?? '', words);
        if (options.length === 0) continue;
        const help: ReadHelp = { description: '', options, positionals: [], commands: [], unread: [] };
        return { source: `the completion of ${name} for ${program}`, text: '', help };
      }
  return undefined;
}
