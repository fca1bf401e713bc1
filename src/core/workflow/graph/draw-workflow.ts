import { AcorError } from '../../../protocol/acor-error.ts';
import { runName } from '../../../protocol/run.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { RunStore } from '../../ports/run-store.ts';
import { readEvents } from '../../run/read-log.ts';
import { findWorkflow, workflowFolders } from '../file/find-workflow.ts';
import { readWorkflow } from '../file/read-workflow.ts';
import { invalidWorkflow } from '../inspect-workflow.ts';
import type { Workflow } from '../model.ts';
import { dotOf, mermaidOf } from './formats.ts';
import { type Graph, graphOf, stepStates } from './graph.ts';

/**
 * Draws a workflow by name or path. Problems outside the file itself, such as a missing tool, do not prevent the
 * drawing. Throws E_WORKFLOW_INVALID, and E_USAGE for a run of a different workflow.
 */
export async function drawWorkflow(
  wanted: string,
  options: {
    config: LoadedConfig;
    cwd: string;
    roots: readonly string[];
    run?: { id: string; store: RunStore };
  },
): Promise<{ graph: Graph; documentAs: (format: 'mermaid' | 'dot') => string }> {
  const { config, run } = options;
  const file = findWorkflow(wanted, options);
  const { workflow, problems } = await readWorkflow(file, { folders: workflowFolders(config) });
  if (workflow === undefined) throw invalidWorkflow(problems, wanted);
  const states = run === undefined ? undefined : await statesOf(workflow, run);
  const graph = graphOf(workflow, states);
  return { graph, documentAs: (format) => (format === 'dot' ? dotOf(graph) : mermaidOf(graph)) };
}

async function statesOf({ name }: Workflow, { id, store }: { id: string; store: RunStore }) {
  const { tool } = await store.read(id);
  if (tool === runName('workflow', name)) return stepStates(readEvents(store, id, { wait: false }));
  throw new AcorError('E_USAGE', `run ${id} is a run of '${tool}', not of the workflow '${name}'`, {
    hint: 'Name a run of this workflow.',
    next: [
      {
        operation: 'run.list',
        input: { tool: runName('workflow', name) },
        why: 'List the runs of the workflow.',
      },
    ],
  });
}
