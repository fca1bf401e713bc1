import type { ReadHelp } from './help-shape.ts';

/** A key that a manifest may have in addition, and what speaks for it. A person decides: both keys widen the tool. */
export interface Offer {
  key: 'extra_args' | 'cwd';
  value: true | 'project';
  why: string;
}

const WORKS_ON_FOLDER =
  /\b(?:working (?:tree|copy)|(?:git|current|local) repository|repository|package\.json|[Mm]akefile|Cargo\.toml|go\.mod|pyproject\.toml|package-lock|the current (?:project|package)|commit logs)\b/;

/** The keys that fit a program: options beyond the inputs, and a working folder that is the project. */
export function offersOf(text: string, { unread }: ReadHelp, leftOut: readonly string[]): Offer[] {
  const offers: Offer[] = [];
  const beyond = unread.length + leftOut.length;
  if (beyond > 0)
    offers.push({
      key: 'extra_args',
      value: true,
      why: `${beyond} of its options and operands are not among the inputs; with it, they are passed on unchecked`,
    });
  const said = WORKS_ON_FOLDER.exec(text)?.[0];
  if (said !== undefined)
    offers.push({
      key: 'cwd',
      value: 'project',
      why: `its help speaks of '${said}'; with it, the tool starts in the project's folder and may read it`,
    });
  return offers;
}
