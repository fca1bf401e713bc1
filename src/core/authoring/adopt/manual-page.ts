import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { boundedText } from './bounded-file.ts';
import type { ReadHelp } from './help-shape.ts';
import { readHelp } from './read-help.ts';
import { roffLines } from './roff.ts';

const SECTIONS = ['1', '8', '6'];
const PACKINGS = ['', '.gz'];

/** What a text on the machine says of a program, and the name of the text for a person. */
export interface FurtherText {
  source: string;
  text: string;
  help: ReadHelp;
}

/**
 * The folders of shared files that belong to a program: beside its `bin`, and beside that of the file that its link
 * names. Pages of other programs with the same name are elsewhere.
 */
export function sharedFolders(program: string): string[] {
  const bins = [program, realpathSync(program)].map((path) => realpathSync(dirname(path)));
  return [...new Set(bins.map((bin) => join(dirname(bin), 'share')))];
}

/** The manual page of a program, or of its subcommand, in the form of a help text. The page is read, never run. */
export function manualPage(folders: readonly string[], words: readonly string[]): FurtherText | undefined {
  const page = words.join('-');
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/.test(page)) return undefined;
  for (const folder of folders)
    for (const section of SECTIONS)
      for (const packing of PACKINGS) {
        const roff = pageText(join(folder, 'man'), `man${section}/${page}.${section}${packing}`);
        if (roff === undefined) continue;
        const text = roffLines(roff).join('\n');
        return { source: `the manual page ${page}(${section})`, text, help: helpOf(text, words) };
      }
  return undefined;
}

/** What the lines of a page say. Its first section says in one line what the program does. */
export function helpOf(text: string, words: readonly string[]): ReadHelp {
  const help = readHelp(text, words);
  const [, summary] = /^NAME:\n\s+\S[^\n]*? -+ ([^\n]+)/im.exec(text) ?? [];
  // `-500` is a value, such as a range, that a page speaks of.
  const options = help.options.filter(({ spellings }) => !/^-\d{2,}$/.test(spellings[0]!));
  return { ...help, options, description: summary ?? '' };
}

/** A page may consist of a reference to another one. */
function pageText(folder: string, name: string): string | undefined {
  const text = boundedText(folder, name);
  const other = /^\.so +(man[1-9]\/[A-Za-z0-9_.+-]+)\s*$/m.exec(text?.slice(0, 500) ?? '')?.[1];
  if (other === undefined) return text;
  return boundedText(folder, other) ?? boundedText(folder, `${other}.gz`);
}
