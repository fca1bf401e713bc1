import { relative } from 'node:path';
import { isInside } from '../../util/real-path.ts';
import { sentence } from '../../util/sentence.ts';
import { type FindingData, placed } from './shapes.ts';

interface CheckedTool {
  name: string;
  dir: string;
}

interface Checked {
  root: string;
  tools: readonly CheckedTool[];
  findings: readonly FindingData[];
  /** Why the self-tests of these tools did not run; undefined when none was asked for. */
  untested: ReadonlyMap<CheckedTool, string> | undefined;
}

/** A test case, and what is wrong with it. */
interface Case {
  className: string;
  name: string;
  findings: readonly FindingData[];
  /** Why it did not run. */
  skipped?: string | undefined;
}

/** The mark of these reports. */
const NAME = 'acor validate';

/** How such a report begins. Those of other programs do so without the name. */
const BEGIN = new RegExp(`^<\\?xml[^>]*>\\s*<testsuites name="${NAME}"`);

/** Whether a text is such a report. */
export function isOwnReport(text: string): boolean {
  return BEGIN.test(text);
}

/** The findings as a JUnit report: a case for each tool, for its self-test, and for each other file with a finding. */
export function junitReport({ root, tools, findings, untested }: Checked): string {
  const isSelftest = ({ rule }: FindingData) => rule === 'selftest';
  const left = new Set(findings);
  const take = (matches: (finding: FindingData) => boolean) => {
    const taken = [...left].filter(matches);
    for (const each of taken) left.delete(each);
    return taken;
  };
  const cases: Case[] = [];
  // The deepest folder first, because a tool may be in a folder of others.
  for (const tool of [...tools].sort((a, b) => b.dir.length - a.dir.length)) {
    const { name, dir } = tool;
    const own = take(({ file }) => isInside(file, dir));
    cases.push({ className: 'tool', name, findings: own.filter((each) => !isSelftest(each)) });
    if (untested === undefined) continue;
    const skipped = untested.get(tool);
    cases.push({ className: 'selftest', name, findings: own.filter(isSelftest), skipped });
  }
  for (const [file, own] of Map.groupBy(left, (finding) => finding.file))
    cases.push({ className: 'file', name: relative(root, file), findings: own });
  const sorted = cases.sort((a, b) => (`${a.className} ${a.name}` < `${b.className} ${b.name}` ? -1 : 1));
  const failed = sorted.filter(({ findings: own }) => own.some(isError)).length;
  const skipped = sorted.filter((each) => each.skipped !== undefined).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${NAME}" tests="${sorted.length}" failures="${failed}">`,
    `<testsuite name="${NAME}" tests="${sorted.length}" failures="${failed}" errors="0" skipped="${skipped}">`,
    ...sorted.map(caseElement),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseElement({ className, name, findings, skipped }: Case): string {
  const [errors, warnings] = [findings.filter(isError), findings.filter((each) => !isError(each))];
  const [first] = errors;
  const failure =
    first === undefined
      ? ''
      : `<failure type="${escaped(first.rule)}" message="${escaped(first.message)}">${escaped(textOf(errors))}</failure>`;
  const skip = skipped === undefined ? '' : `<skipped message="${escaped(skipped)}"/>`;
  const out = warnings.length === 0 ? '' : `<system-out>${escaped(textOf(warnings))}</system-out>`;
  return `<testcase classname="${className}" name="${escaped(name)}">${failure}${skip}${out}</testcase>`;
}

function isError({ severity }: FindingData): boolean {
  return severity === 'error';
}

function textOf(findings: readonly FindingData[]): string {
  return findings
    .map((each) => `${placed(each)}: ${each.severity} ${each.rule}: ${sentence(each.message)} ${each.fix}`)
    .join('\n');
}

/** XML has no form for most control characters. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
