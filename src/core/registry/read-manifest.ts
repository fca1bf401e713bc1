import { dirname } from 'node:path';
import type { Manifest } from '../../protocol/manifest.ts';
import { nearestWords } from '../../util/nearest.ts';
import { isInside } from '../../util/real-path.ts';
import { checkFile } from '../config/check-file.ts';
import { type Problem, problemOf } from '../config/problem.ts';
import { readYamlFile, type YamlFile } from '../config/yaml-file.ts';
import { LANGUAGES } from './languages/index.ts';
import type { Language } from './languages/language.ts';
import type { WatchedFiles } from './watched-files.ts';

/** A manifest file: its content if it is valid, and all its problems. */
export interface ReadManifest {
  manifest?: Manifest;
  /** As it is written, also when the manifest has problems. */
  entry?: string;
  problems: Problem[];
  /** A problem at a key of the file. */
  problemAt(key: string, rule: string, message: string, fix: string): Problem;
}

/** Reads and validates a manifest. A symlink that leads out of `root` is not followed. `withoutPlaces`: see `readYamlFile`. */
export async function readManifest(
  path: string,
  name: string,
  root: string,
  files: WatchedFiles,
  {
    languages = LANGUAGES,
    withoutPlaces = false,
  }: { languages?: readonly Language[]; withoutPlaces?: boolean } = {},
): Promise<ReadManifest> {
  const real = files.realPath(path, dirname(path));
  if (real?.stats === undefined) {
    return unreadable(
      problemOf(path, 'unreadable', 'the manifest is a symlink to a missing file', 'Replace it by a file.'),
    );
  }
  if (!isInside(real.path, root)) {
    return unreadable(
      problemOf(
        path,
        'link-outside',
        `the manifest is a symlink to ${real.path}, outside ${root}`,
        'Replace it by a copy of the file.',
      ),
    );
  }
  const yaml = { ...(await readYamlFile(real.path, { aliases: false, withoutPlaces })), file: path };
  return manifestOf(yaml, name, languages);
}

/** Validates the content of a manifest. */
export async function manifestOf(
  yaml: YamlFile,
  name: string,
  languages: readonly Language[],
): Promise<ReadManifest> {
  const { file: path } = yaml;
  // Loaded late: a start with a valid cache reads no manifest.
  const { manifestFile, completeManifest } = await import('../../protocol/manifest.ts');
  const { data, problems } = checkFile(manifestFile, {
    ...yaml,
    problems: yaml.problems.map((each) => ({ ...each, file: path })),
  });
  // As written when it has problems, so that these hide no others.
  const written = data ?? (yaml.problems.length > 0 ? {} : (yaml.value as Written));
  const names = languages.map((each) => each.name);
  problems.push(...languageProblems(written, yaml, names), ...(await schemaProblems(written, yaml)));
  const { entry } = written;
  return {
    ...(data !== undefined && { manifest: completeManifest(data, name) }),
    ...(typeof entry === 'string' && entry !== '' && { entry }),
    problems: problems.sort((a, b) => a.line - b.line || a.column - b.column),
    problemAt: at(yaml),
  };
}

/** What a manifest may hold before its check, and what is checked beside its schema. */
type Written = Readonly<Partial<Record<'entry' | 'language' | 'input_schema' | 'output_schema', unknown>>>;

function languageProblems({ language }: Written, yaml: YamlFile, known: readonly string[]): Problem[] {
  if (typeof language !== 'string' || known.includes(language)) return [];
  const [nearest] = nearestWords(language, known, 1);
  return [
    at(yaml)(
      'language',
      'language',
      `unknown language '${language}'`,
      `Write ${nearest ?? `one of ${known.join(', ')}`}.`,
    ),
  ];
}

const SCHEMA_KEYS = [
  ['input_schema', 'input-schema'],
  ['output_schema', 'output-schema'],
] as const;

/** A schema that cannot be used is a mistake of the manifest: a run would find it after its work. */
async function schemaProblems(written: Written, yaml: YamlFile): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [key, rule] of SCHEMA_KEYS) {
    const schema = written[key];
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) continue;
    const { schemaMistake } = await import('./schema-check.ts');
    const mistake = await schemaMistake({ ...schema });
    if (mistake === undefined) continue;
    const { why, path, fix } = mistake;
    const place = path.length === 0 ? yaml.placeOfKey([], key) : yaml.placeOf([key, ...path]);
    const message = `'${key}' is not a valid JSON Schema: ${why}`;
    problems.push({ file: yaml.file, ...place, rule, message, fix });
  }
  return problems;
}

function at(yaml: YamlFile): ReadManifest['problemAt'] {
  return (key, rule, message, fix) => ({ file: yaml.file, ...yaml.placeOf([key]), rule, message, fix });
}

function unreadable(problem: Problem): ReadManifest {
  return {
    problems: [problem],
    problemAt: (_key, rule, message, fix) => problemOf(problem.file, rule, message, fix),
  };
}
