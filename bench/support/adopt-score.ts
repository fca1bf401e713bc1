import { readdirSync, readFileSync } from 'node:fs';
import type { FoundOption } from '../../src/core/authoring/adopt/help-shape.ts';
import { readHelp } from '../../src/core/authoring/adopt/read-help.ts';
import { valueTypeOf } from '../../src/core/authoring/adopt/value-type.ts';

const CORPUS = new URL('../../src/core/authoring/adopt/corpus/', import.meta.url);

/** How well one help text of the corpus is read. */
export interface Score {
  program: string;
  style: string;
  /** Options that a person reads in it. */
  expected: number;
  found: number;
  /** Of those that are expected: whether there is a value, its type and its choices. */
  typesRight: number;
  /** Of those that are expected: the default. */
  defaultsRight: number;
  /** What is taken for an option, and is none. */
  falseOnes: string[];
  missing: string[];
  /** What is read, and what was to be read. */
  wrong: string[];
}

/** Parses every text of the corpus and compares the result with what a person reads there. */
export function scoreCorpus(): Score[] {
  const files = readdirSync(CORPUS).filter((file) => file.endsWith('.expected'));
  return files.sort().map((file) => {
    const program = file.replace('.expected', '');
    return scoreOf(program, read(`${program}.txt`), read(file));
  });
}

function read(file: string): string {
  return readFileSync(new URL(file, CORPUS), 'utf8');
}

/** Compares one text with its expectation; the corpus's README says how that is written. */
export function scoreOf(program: string, text: string, expectation: string): Score {
  const [styleLine = '', wordsLine = '', ...lines] = expectation.trimEnd().split('\n');
  const { options } = readHelp(text, wordsLine.split(' ').slice(1));
  const open = new Set(options);
  const score: Score = {
    program,
    style: styleLine.split(' ')[1] ?? '',
    expected: lines.length,
    found: 0,
    typesRight: 0,
    defaultsRight: 0,
    falseOnes: [],
    missing: [],
    wrong: [],
  };
  for (const line of lines) {
    const expected = expectedOf(line);
    // Each is found once: two that are read as one are one found and one missing.
    const option = [...open].find((each) =>
      expected.spellings.every((spelling) => spellingsOf(each).includes(spelling)),
    );
    if (option === undefined) {
      score.missing.push(line);
      continue;
    }
    open.delete(option);
    score.found++;
    const readAs = lineOf(option);
    const is = expectedOf(readAs);
    if (is.value === expected.value) score.typesRight++;
    if (is.fallback === expected.fallback) score.defaultsRight++;
    if (is.value !== expected.value || is.fallback !== expected.fallback)
      score.wrong.push(`${readAs}, not ${line}`);
  }
  score.falseOnes = [...open].map(lineOf);
  return score;
}

function spellingsOf({ spellings, negations }: FoundOption): string[] {
  return [...spellings, ...negations];
}

function expectedOf(line: string): { spellings: string[]; value: string; fallback: string } {
  const words = line.split(' ');
  const spellings = words.filter((word) => word.startsWith('-'));
  const fallback = words.find((word) => word.startsWith('default:')) ?? '';
  const value = words.filter((word) => !spellings.includes(word) && word !== fallback).join(' ');
  return { spellings, value, fallback };
}

/** What was read of an option, as an expectation is written. */
function lineOf(option: FoundOption): string {
  const { type, enum: choices, default: fallback } = valueTypeOf(option);
  const takes = option.value?.isOptional ? 'may-take' : 'takes';
  return [
    ...spellingsOf(option),
    ...(type === 'bool' ? [] : [takes, type]),
    ...(choices ? [`enum:${choices.join('|')}`] : []),
    ...(fallback === undefined ? [] : [`default:${fallback}`]),
  ].join(' ');
}
