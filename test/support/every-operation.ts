import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationTypes } from '../../src/client/index.ts';
import { SERVERS } from '../../src/operations/command-forms.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { TestProject, until } from './project.ts';

/** The operations that a program may call. */
export const CALLABLE = ROUTES.filter(
  ({ operation, hidden }) => !hidden && !SERVERS.some((each) => each === operation),
);

/** Operations that fail in this project: they need a run with a layer, a person, or an agent. */
export const FAILING: Readonly<Record<string, string>> = {
  'compose.call': 'E_TOOL_NOT_FOUND',
  'run.apply': 'E_APPROVAL_REQUIRED',
  'run.discard': 'E_USAGE',
  'run.undo': 'E_APPROVAL_REQUIRED',
  'task.run': 'E_CONFIG_INVALID',
};

/** The runs that the calls are about. */
export interface Runs {
  run: string;
  failed: string;
  failedToo: string;
  asking: string;
  flow: string;
}

/** A project in which every operation has something to work on. */
export function projectForEveryOperation(): TestProject {
  const project = new TestProject({ tools: ['quick', 'right_hash', 'asks', 'needs_three_tries'] });
  project.write(
    'tools/fails_once/cli.sh',
    '#!/bin/bash\n[ "$ACOR_ATTEMPT" = 1 ] && exit 30\necho \'{"type":"result","status":"ok"}\'\n',
    0o755,
  );
  project.write(
    'tools/takes_records/tool.yaml',
    'version: 1.0.0\ncommand: [cat]\nadapter: plain\nstdin: records\n',
  );
  project.write('workflows/flow.yaml', 'steps: [{ name: a, tool: quick }]\n');
  // A client of a server may name files of the project only, and the program imports its library from there.
  const repository = join(import.meta.dirname, '..', '..');
  project.write('shelf/package.json', '{"type":"module"}');
  cpSync(join(repository, 'node_modules/commander'), project.path('shelf/node_modules/commander'), {
    recursive: true,
  });
  copyFileSync(join(repository, 'test/fixtures/codemod/shelf.mjs'), project.path('shelf/cli.mjs'));
  project.write('secret.txt', 'correct horse battery\n');
  return project;
}

/** Its runs. */
export async function startRuns(project: TestProject): Promise<Runs> {
  const run = String((await project.run(['right_hash'])).end['run_id']);
  const failed = String((await project.run(['fails_once'])).end['run_id']);
  const failedToo = String((await project.run(['fails_once'])).end['run_id']);
  await project.acor(['secret', 'set', 'API_TOKEN', '--file', 'secret.txt']);
  const asking = (await project.envelope(['run', 'asks', '--detach'])).data.run_id;
  await until(() => project.record(asking)?.state === 'waiting_ai');
  const flow = (await project.envelope(['workflow', 'run', 'flow', '--no-stream'])).data.run_id;
  return { run, failed, failedToo, asking, flow };
}

type Inputs = { [N in keyof OperationTypes]: () => OperationTypes[N]['input'] };

/** A call of each operation. The compiler knows the names and the inputs. */
export function inputsOf(ids: Runs): Inputs {
  return {
    'agents.check': () => ({}),
    'agents.plugin': () => ({ output: 'plugin', dry_run: true }),
    'agents.remove': () => ({ dry_run: true }),
    'compose.audit': () => ({ target: 'sort', dry_run: true }),
    'compose.call': () => ({ program: 'sort', args: ['tools'] }),
    'compose.codemod': () => ({
      source: 'shelf/cli.mjs',
      output: 'agent',
      dry_run: true,
    }),
    'compose.migrate': () => ({ program: 'seq', call: ['-- 3'], dry_run: true }),
    'compose.plan': () => ({ program: 'seq', call: ['-- 3'] }),
    'config.set': () => ({ key: 'storage.keep', value: '5', dry_run: true }),
    'config.show': () => ({}),
    'config.unset': () => ({ key: 'storage.keep', dry_run: true }),
    'host.show': () => ({}),
    'host.stop': () => ({ dry_run: true }),
    'outbox.deliver': () => ({}),
    'plugin.list': () => ({}),
    'policy.check': () => ({ tool: 'quick' }),
    'project.init': () => ({ dry_run: true }),
    'project.template': () => ({ language: 'bash', name: 'mine', dry_run: true }),
    'project.trust': () => ({ dry_run: true }),
    'project.upgrade': () => ({ dry_run: true }),
    'project.validate': () => ({}),
    'run.answer': () => ({ run: ids.asking, choice: 'fast' }),
    'run.apply': () => ({ run: ids.run }),
    'run.artifact': () => ({ run: ids.run, artifact: '1' }),
    'run.artifacts': () => ({ run: ids.run }),
    'run.attach': () => ({ run: ids.run }),
    'run.cancel': () => ({ run: ids.run }),
    'run.clean': () => ({ keep: 100, dry_run: true }),
    'run.cost': () => ({}),
    'run.decisions': () => ({ run: ids.run }),
    'run.diff': () => ({ run: ids.run }),
    'run.discard': () => ({ run: ids.run }),
    'run.exec': () => ({ program: 'true' }),
    'run.insights': () => ({}),
    'run.list': () => ({}),
    'run.logs': () => ({ run: ids.run, type: ['runner_end'] }),
    'run.remove': () => ({ run: ids.run, dry_run: true }),
    'run.replay': () => ({ run: ids.run }),
    'run.resume': () => ({ run: ids.failed }),
    'run.retry': () => ({ run: ids.failedToo }),
    'run.show': () => ({ run: ids.run }),
    'run.start': () => ({ tool: 'quick' }),
    'run.undo': () => ({ run: ids.run }),
    'run.verify': () => ({ run: ids.run }),
    'run.wait': () => ({ run: ids.run }),
    'schedule.add': () => ({ tool: 'quick', cron: '0 3 * * *' }),
    'schedule.list': () => ({}),
    'schedule.pause': () => ({ name: 'quick' }),
    'schedule.remove': () => ({ name: 'quick', dry_run: true }),
    'schedule.resume': () => ({ name: 'quick' }),
    'schedule.show': () => ({ name: 'quick' }),
    'schedule.watch': () => ({ tool: 'quick', on: ['src/**'], dry_run: true, name: 'watching' }),
    'secret.delete': () => ({ name: 'API_TOKEN' }),
    'secret.list': () => ({}),
    'secret.set': () => ({ name: 'API_TOKEN', file: 'secret.txt' }),
    'system.complete': () => ({ shell: 'bash' }),
    'system.errors': () => ({}),
    'system.explain': () => ({}),
    'system.health': () => ({}),
    'system.man': () => ({}),
    'system.metrics': () => ({}),
    'system.self-test': () => ({}),
    'system.tools': () => ({}),
    'system.version': () => ({}),
    'task.run': () => ({ task_id: 'one', description: 'x' }),
    'tool.adopt': () => ({ program: 'sort', dry_run: true }),
    'tool.approve': () => ({ list: true }),
    'tool.describe': () => ({ tool: 'quick' }),
    'tool.learn': () => ({ tool: 'quick', dry_run: true }),
    'tool.list': () => ({}),
    'workflow.graph': () => ({ workflow: 'flow' }),
    'workflow.list': () => ({}),
    'workflow.pipe': () => ({ stages: ['quick', 'takes_records'] }),
    'workflow.resume': () => ({ run: ids.flow, from: 'a' }),
    'workflow.run': () => ({ workflow: 'flow' }),
    'workflow.template': () => ({ name: 'other', dry_run: true }),
    'workflow.validate': () => ({}),
  };
}
