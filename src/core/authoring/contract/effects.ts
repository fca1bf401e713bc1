import type { FoundCommand } from '../adopt/help-shape.ts';

/** What a command does to the world, as far as its name and its help say. */
export type CommandEffect = 'reads' | 'writes' | 'destroys' | 'unknown';

const READS = new Set(
  'blame check compare count describe diff doctor dump events explain export-schema extract find get grep health help history info inspect list log logs ls outdated query read schema search show stat stats status tree validate verify version view whoami which who'.split(
    ' ',
  ),
);
const WRITES = new Set(
  'activate add allow annotate answer append apply approve archive assign attach autoscale build bump cancel change checkout clone commit compress concatenate configure copy cordon cp create daemon-reload deploy disable edit enable exec expose fetch fork import init insert install invite join label link lock login logout mark merge migrate mkdir move mv new open pack patch pause post publish pull push put rebase register reload rename replace restart restore resume retry rotate run save scale send set sign start submit switch sync tag taint touch trust unlink unlock unmount unpause unset unstage update upgrade upload write'.split(
    ' ',
  ),
);
const DESTROYS = new Set(
  'autoclean autopurge autoremove abort clean cleanup clear delete deprecate destroy discard drain drop erase evict expire flush forget format gc kill nuke prune purge reboot remove reset revert revoke rm rmdir rmi shred shutdown stop terminate truncate undo uninstall unpublish wipe'.split(
    ' ',
  ),
);
const WORST: readonly CommandEffect[] = ['destroys', 'writes', 'reads'];

/** Judges a command by its name and by the verbs of its summary. The worst of them decides. */
export function effectOf({ name, text }: FoundCommand): CommandEffect {
  const ofName = name.split(/[-_:.]/).map(effectOfVerb);
  const ofText = verbsOf(text).map(effectOfVerb);
  const first = effectOfVerb(name);
  // The name of a verb says it all: `log` shows what was deleted, and deletes nothing.
  if (first === 'reads' && !ofText.includes('destroys'))
    return ofText.includes('writes') ? 'writes' : 'reads';
  return WORST.find((effect) => ofName.includes(effect) || ofText.includes(effect)) ?? 'unknown';
}

/** The effect of one verb. */
export function effectOfVerb(word: string): CommandEffect {
  if (DESTROYS.has(word)) return 'destroys';
  if (WRITES.has(word)) return 'writes';
  return READS.has(word) ? 'reads' : 'unknown';
}

/** The verbs with which a summary begins: its first word, and those that a comma, a slash, `and` or `or` puts beside it. */
export function verbsOf(summary: string): string[] {
  const verbs: string[] = [];
  let isJoined = true;
  for (const word of summary.toLowerCase().split(/\s+/)) {
    const isConnector = word === 'and' || word === 'or';
    if (isConnector) {
      isJoined = true;
      continue;
    }
    const [bare = ''] = word.split(',', 1);
    const parts = bare.split('/').map(baseForm);
    if (!isJoined || parts.some((each) => effectOfVerb(each) === 'unknown')) break;
    verbs.push(...parts);
    isJoined = word.endsWith(',');
  }
  return verbs;
}

/** `deletes` and `delete` are one verb. */
function baseForm(word: string): string {
  for (const form of [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')])
    if (effectOfVerb(form) !== 'unknown') return form;
  return word;
}
