import type { Attack } from './attack.ts';
import { ALL_ATTACKS } from './attacks.ts';

/** `part`: some ways of an attack come through and others do not. */
export type Verdict = 'held' | 'part' | 'open';
export type Who = 'root' | 'user';

/** What a run of the suite has found, by number of the attack and backend; the control is in the column `none`. */
export type Findings = Readonly<Record<string, Readonly<Record<string, Verdict>>>>;

const START = '<!-- attacks: written by scripts/write-attack-table.ts -->';
const END = '<!-- attacks: end -->';
const PART = 'in part';

/** The block of docs/sandbox.md for what the two runs have found. */
export function renderTable(found: Readonly<Record<Who, Findings>>, backends: readonly string[]): string {
  const notes: string[] = [];
  const noted = (note: string) => {
    if (!notes.includes(note)) notes.push(note);
    return ` [${notes.indexOf(note) + 1}]`;
  };
  const rows = ALL_ATTACKS.map((attack) => {
    const cells = backends.map((backend) => cellOf(attack, backend, found, noted));
    return `| ${[attack.number, attack.title, ...cells, controlOf(attack, found, noted)].join(' | ')} |`;
  });
  const head = ['#', 'attack', ...backends, 'none (control)'];
  const lines = [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows, ''];
  return [START, ...lines, ...notes.map((note, index) => `- [${index + 1}] ${note}`), END].join('\n');
}

/** Finds the block in a document; `replaced` returns the document with another block. */
export function tableIn(document: string): { block: string; replaced: (block: string) => string } {
  const [start, end] = [document.indexOf(START), document.indexOf(END) + END.length];
  if (start === -1 || end < start) throw new Error(`there is no block from '${START}' to '${END}'`);
  const replaced = (block: string) => document.slice(0, start) + block + document.slice(end);
  return { block: document.slice(start, end), replaced };
}

/** The backends for which a block has a column, and what it says that one of the two runs has found with them. */
export function readTable(block: string): { backends: string[]; found: (who: Who) => Findings } {
  const rows = block.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((row) => row.slice(2, -2).split(' | '));
  const backends = cells[0]!.slice(2, -1);
  const found = (who: Who) =>
    Object.fromEntries(
      cells.slice(1).map(([number, , ...words]) => {
        const names = [...backends, 'none'];
        return [
          number!,
          Object.fromEntries(names.map((name, index) => [name, readCell(words[index]!, who)])),
        ];
      }),
    );
  return { backends, found };
}

type Noted = (note: string) => string;

function cellOf(attack: Attack, backend: string, found: Record<Who, Findings>, noted: Noted): string {
  if (attack.at === 'runner') return 'held by the runner';
  const verdicts = verdictsOf(attack, backend, found);
  const note = attack.open?.[backend];
  const isHeld = Object.values(verdicts).every((verdict) => verdict === 'held');
  return words(verdicts) + (isHeld || note === undefined ? '' : noted(note));
}

function controlOf(attack: Attack, found: Record<Who, Findings>, noted: Noted): string {
  const { noControl, noControlAsUser } = attack;
  if (noControl !== undefined) return `no control${noted(noControl)}`;
  if (noControlAsUser !== undefined) return `open (root), no control (user)${noted(noControlAsUser)}`;
  return attack.at === 'runner' ? 'open' : words(verdictsOf(attack, 'none', found));
}

function verdictsOf({ number }: Attack, backend: string, found: Record<Who, Findings>): Record<Who, Verdict> {
  const of = (who: Who) => found[who][number]?.[backend] ?? 'open';
  // A control that comes through in one way is one.
  const seen = (verdict: Verdict) => (backend === 'none' && verdict === 'part' ? 'open' : verdict);
  return { root: seen(of('root')), user: seen(of('user')) };
}

function words({ root, user }: Record<Who, Verdict>): string {
  const word = (verdict: Verdict) => (verdict === 'part' ? `open ${PART}` : verdict);
  return root === user ? word(root) : `${word(root)} (root), ${word(user)} (user)`;
}

function readCell(cell: string, who: Who): Verdict {
  const [root, user] = cell.replace(/ \[\d+\]$/, '').split(', ');
  const text = who === 'user' ? (user ?? root!) : root!;
  return text.includes(PART) ? 'part' : text.startsWith('held') ? 'held' : 'open';
}
