import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { type WorkflowFile, workflowFile } from '../../../protocol/workflow-file.ts';
import { checkFile } from '../../config/check-file.ts';
import type { Problem } from '../../config/problem.ts';
import { readYamlFile, type YamlFile } from '../../config/yaml-file.ts';
import { parseTemplate } from '../expression/parse-template.ts';
import type { Template } from '../expression/template.ts';
import type { Workflow, WorkflowInput } from '../model.ts';
import { readSteps } from './read-steps.ts';

/** Reads a workflow file, YAML or JSON. What is wrong with it is in `problems`; without any, there is a workflow. */
export async function readWorkflow(path: string): Promise<{ workflow?: Workflow; problems: Problem[] }> {
  const yaml = await readYamlFile(path);
  const { data, problems } = checkFile(workflowFile, yaml);
  if (data === undefined) return { problems };
  const found: Problem[] = [];
  const workflow = assemble(data, yaml, realpathSync(path), found);
  return found.length > 0 ? { problems: found } : { workflow, problems: [] };
}

function assemble(data: WorkflowFile, yaml: YamlFile, file: string, problems: Problem[]): Workflow {
  const reader = {
    yaml,
    problems,
    folder: dirname(file),
    onError: data.on_error,
    template: (path: readonly (string | number)[], value: unknown) =>
      parseTemplate(yaml, path, value, problems),
  };
  const outputs: [string, Template][] = Object.entries(data.outputs).map(([key, value]) => [
    key,
    reader.template(['outputs', key], value),
  ]);
  return {
    name: data.name ?? basename(file, extname(file)),
    description: data.description,
    file,
    digest: createHash('sha256')
      .update(readFileSync(resolve(file)))
      .digest('hex'),
    inputs: Object.entries(data.inputs).map(([name, input]): WorkflowInput => ({ name, ...input })),
    steps: readSteps(reader, data.steps, ['steps'], { inSequence: true }),
    finally: readSteps(reader, data.finally, ['finally'], { inSequence: true }),
    outputs: Object.fromEntries(outputs),
    timeoutS: data.timeout_s,
    maxConcurrency: data.max_concurrency,
  };
}
