import { AcorError } from '../../../protocol/acor-error.ts';
import type { NextStep } from '../../../protocol/next-steps.ts';
import type { Problem } from '../../config/problem.ts';
import { readYamlFile, type YamlFile } from '../../config/yaml-file.ts';
import { readHeaderManifest } from '../../registry/header-manifest.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { RULES, type Severity } from './rules.ts';

/** A problem in a file, or a suggestion. Lines and columns count from 1; 0 means the whole file. */
export interface Finding {
  file: string;
  line: number;
  col: number;
  severity: Severity;
  /** A stable id; `docs/validate.md` lists all of them. */
  rule: string;
  message: string;
  /** How to fix it. */
  fix: string;
  /** The operations that fix it. */
  next?: readonly NextStep[];
}

/** Converts a problem from a file reader to a finding with the severity of its rule. */
export function findingOf({ file, line, column, rule, message, fix, next }: Problem): Finding {
  const severity = RULES[rule]?.severity ?? 'error';
  return { file, line, col: column, severity, rule, message, fix, ...(next && { next }) };
}

/** Sorts findings by place and drops duplicates. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const byText = new Map(findings.map((each) => [JSON.stringify(each), each]));
  return [...byText.values()].sort(
    (a, b) =>
      compare(a.file, b.file) ||
      a.line - b.line ||
      a.col - b.col ||
      compare(a.rule, b.rule) ||
      compare(a.message, b.message),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Converts the AcorError of a file reader to findings. Rethrows any other error. */
export async function problemsOf(read: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await read();
    return [];
  } catch (error) {
    const findings = findingsIn(error);
    if (findings === undefined) throw error;
    return findings;
  }
}

/** The problems of files that an error reports; undefined for another error. */
export function findingsIn(error: unknown): Finding[] | undefined {
  const problems = error instanceof AcorError ? error.details?.['problems'] : undefined;
  return Array.isArray(problems) ? (problems as Problem[]).map(findingOf) : undefined;
}

/** A manifest before defaults are applied: its values and their places. */
export function placesIn(manifestPath: string): Promise<YamlFile> {
  return readYamlFile(manifestPath, { aliases: false });
}

/** The same of the manifest of a tool, which may be in the header of its script; undefined when it has none. */
export async function manifestOf({
  manifestPath,
  entry,
}: ToolEntry): Promise<{ file: string; yaml: YamlFile } | undefined> {
  if (manifestPath !== null) return { file: manifestPath, yaml: await placesIn(manifestPath) };
  const yaml = entry === null ? undefined : await readHeaderManifest(entry);
  return yaml && { file: entry!, yaml };
}
