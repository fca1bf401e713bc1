import { realpathSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import {
  MAX_WORKFLOW_BYTES,
  MOST_STEPS,
  WORKFLOW_NAME,
  type WorkflowFile,
  workflowFile,
} from '../../../protocol/workflow-file.ts';
import { newSha256 } from '../../../util/sha256.ts';
import { checkFile } from '../../config/check-file.ts';
import { inexactNumbers } from '../../config/inexact-numbers.ts';
import type { Problem } from '../../config/problem.ts';
import { type KeyPath, readYamlFile, type YamlFile } from '../../config/yaml-file.ts';
import { parseTemplate, templateOf } from '../expression/parse-template.ts';
import type { Workflow, WorkflowInput } from '../model.ts';
import { whyOutside } from './find-workflow.ts';
import { readSteps } from './read-steps.ts';
import type { FileReader } from './step-file.ts';

/** Stop after this many problems in one file: more do not help the author. */
const MOST_PROBLEMS = 200;
/** What a name has room for beside the part of a SHA-256. */
const MAX_READABLE_CHARS = 55;

/** A parsed workflow file, with the places of its values. */
export interface ReadWorkflow {
  workflow?: Workflow;
  /** The problems of the file itself. When there are none, `workflow` is set. */
  problems: Problem[];
  places: Pick<YamlFile, 'placeOf' | 'placeOfKey'>;
}

/**
 * Reads a workflow file, YAML or JSON. It reads only this file; `check/` compares it with the tools and the other
 * workflows. Sub-workflows are searched for beside the file and in `folders`. A file outside of all `roots` is not read.
 */
export async function readWorkflow(
  path: string,
  { folders = [], roots }: { folders?: readonly string[]; roots?: readonly string[] } = {},
): Promise<ReadWorkflow> {
  const outside = roots && whyOutside(path, roots);
  if (outside !== undefined) return notRead(path, outside);
  const places = await readYamlFile(path, { maxBytes: MAX_WORKFLOW_BYTES });
  const { data, problems } = checkFile(workflowFile, places);
  if (data === undefined) return { problems: problems.slice(0, MOST_PROBLEMS), places };
  const found: Problem[] = [];
  const workflow = assemble(data, places, realpathSync(path), folders, found);
  const count = data.steps.length + data.finally.length;
  if (count > MOST_STEPS) found.push(tooMany(places, count));
  for (const { name, secret } of workflow.inputs) if (secret) found.push(secretInput(places, name));
  if (found.length > 0) return { problems: found.slice(0, MOST_PROBLEMS), places };
  return { workflow, problems: [], places };
}

function assemble(
  data: WorkflowFile,
  yaml: YamlFile,
  file: string,
  folders: readonly string[],
  problems: Problem[],
): Workflow {
  const reader: FileReader = {
    yaml,
    problems,
    folders: [dirname(file), ...folders],
    onError: data.on_error,
    template: (path, value) => {
      problems.push(...inexactNumbers(yaml, path, value));
      return parseTemplate(yaml, path, value, problems);
    },
    word: (path, pieces) => templateOf(yaml, path, pieces, problems),
  };
  for (const [name, input] of Object.entries(data.inputs))
    problems.push(...inexactNumbers(yaml, ['inputs', name, 'default'], input.default));
  const outputs = Object.entries(data.outputs).map(
    ([key, value]) => [key, reader.template(['outputs', key], value)] as const,
  );
  const listed = (key: 'steps' | 'finally') => {
    const path: KeyPath = [key];
    return readSteps(reader, data[key], path, { inSequence: true });
  };
  return {
    name: data.name ?? nameOf(file),
    description: data.description,
    file,
    digest: newSha256().update(yaml.text).digest('hex'),
    inputs: Object.entries(data.inputs).map(([name, input]): WorkflowInput => ({ name, ...input })),
    steps: listed('steps'),
    finally: listed('finally'),
    outputs: Object.fromEntries(outputs),
    timeoutS: data.timeout_s,
    maxConcurrency: data.max_concurrency,
  };
}

/**
 * The file name. One that is not the name of a workflow loses what such a name cannot contain, and gets a part of its SHA-256 instead: otherwise
 * two files could share a name, and with it their metrics and filters.
 */
function nameOf(file: string): string {
  const name = basename(file, extname(file));
  if (WORKFLOW_NAME.test(name)) return name;
  const hash = newSha256().update(name).digest('hex').slice(0, 8);
  const readable = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
  return `${readable.slice(0, MAX_READABLE_CHARS) || 'workflow'}-${hash}`;
}

function notRead(file: string, why: Pick<Problem, 'message' | 'fix'>): ReadWorkflow {
  const first = () => ({ line: 1, column: 1 });
  return {
    problems: [{ file, ...first(), rule: 'grant-roots', ...why }],
    places: { placeOf: first, placeOfKey: first },
  };
}

function tooMany({ file, placeOfKey }: YamlFile, count: number): Problem {
  return {
    file,
    ...placeOfKey([], 'steps'),
    rule: 'too-many-steps',
    message: `the workflow has ${count} steps; at most ${MOST_STEPS} are allowed`,
    fix: 'Use a foreach, or move some of the steps into a workflow of their own.',
  };
}

function secretInput({ file, placeOf }: YamlFile, name: string): Problem {
  return {
    file,
    ...placeOf(['inputs', name, 'secret']),
    rule: 'secret-input',
    message: `the input '${name}' is secret, but ACOR stores the inputs of a workflow to resume it`,
    fix: "Name the secret under 'secrets' in the manifest of the tool that needs it, and store it.",
  };
}
