import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Keeps retired words out of the code, the messages and the documents (docs/glossary.md has the terms to use). Prints
// `file:line: word, use …` for each one and exits 1.

interface Retired {
  word: RegExp;
  use: string;
}

/** Words of the private vocabulary that ACOR had, with the terms that replace them. */
const RETIRED: readonly Retired[] = [
  {
    word: /\b(?:tells?|telling|told)\b|\b(?:tell|told)(?=[A-Z])|[a-z](?:Told|Tells?)\b|[a-z](?:Told|Tell)(?=[A-Z])/,
    use: 'report, emit, record, say, show',
  },
  { word: /\bmend(?:s|ed|ing)?\b|\bmend(?=[A-Z])/i, use: 'fix, repair' },
  {
    word: /\bhand(?:s|ed|ing)? (?:over|back)\b|handOver|HandOver|handedOver|HandedOver/i,
    use: 'assign, pass, restore ownership',
  },
  { word: /\b(?:gives?|given|gave|giving) (?:\w+ )?back\b|giveBack/i, use: 'return, restore, release' },
  {
    word: /\b(?:that|which|who|what|it|one|them) (?:is|are|was|were) none\b/i,
    use: 'is not a …, does not exist',
  },
  {
    word: /\b(?:whoever|whomever|nobody(?!:)|somebody)\b/i,
    use: 'the user, another process, no process (name the actor)',
  },
  { word: /\banew\b/i, use: 'again' },
  { word: /\bonce more\b/i, use: 'again' },
  { word: /\bover?stay(?:s|ed)?\b/i, use: 'did not exit after its result' },
  {
    word: /\b(?:keepers|isKeeper|settleLost|settleIfLost|takesPlace|standing|standingWords)\b/,
    use: 'the terms of docs/glossary.md',
  },
  { word: /\bas things stand\b|\bwhere (?:it|a run|the run) stands\b/i, use: 'status, state' },
  { word: /\b(?:go|goes|went|gone|going) on with\b/i, use: 'continue, resume' },
  { word: /\blet(?:s|ting)? go\b/i, use: 'release, close' },
  { word: /\bstand(?:s|ing)? still\b/i, use: 'wait' },
  {
    word: /\b(?:becomes?|became|comes?|came) of (?:it|them|that|this|the|a|each|what)\b/i,
    use: 'result, outcome, state',
  },
  { word: /\bin the place of\b/i, use: 'instead of, replace' },
  { word: /\bheld against\b|\bholds? [a-z ]{1,30} against\b/i, use: 'check against, compare with' },
  { word: /\bto be had\b/i, use: 'available' },
  { word: /\bleft out, (?:it|they)\b/i, use: 'defaults to' },
  { word: /\bleads? nowhere\b/i, use: 'is missing, cannot be resolved' },
  { word: /\b(?:has|have) not heard of\b/i, use: 'does not import, is independent of' },
  { word: /\bstrangers?\b/i, use: 'untrusted, unknown' },
  {
    word: /(?<!\bthere )\bis no (?:JSON|list|object|function|number|directory|file|answer|message|path|text|tool|run)\b/i,
    use: 'is not a',
  },
];

/** Files that may hold the words: the list itself, history, licences, recorded texts of other programs. */
const EXCEPT =
  /^(?:scripts\/check-words\.ts|CHANGELOG\.md|LICENSE|package-lock\.json)$|\/corpus\/|test\/fixtures\/(?:streams|seeds)\//;
const TEXTS = /\.(?:ts|mts|mjs|js|md|sh|py|pl|yaml|yml|json|1|txt)$|^acor$/;

const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  .split('\n')
  .filter((file) => TEXTS.test(file) && !EXCEPT.test(file));
let read = 0;
let found = 0;
for (const file of files) {
  let text: string;
  try {
    text = readFileSync(root + file, 'utf8');
  } catch {
    // Removed in the work tree, and not yet in the index.
    continue;
  }
  read++;
  for (const [index, line] of text.split('\n').entries()) {
    for (const { word, use } of RETIRED) {
      const match = word.exec(line);
      if (match === null) continue;
      found++;
      console.error(`${file}:${index + 1}: '${match[0]}', use: ${use}`);
    }
  }
}
if (read < 500) throw new Error(`Internal: only ${read} files were read`);
if (found > 0) {
  console.error(`${found} retired word(s)`);
  process.exitCode = 1;
}
