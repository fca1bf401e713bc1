import { TestProject } from './project.ts';

/** What an operation answers to a call that it does not accept. */
export const REFUSALS = [
  'E_USAGE',
  'E_TOOL_NOT_FOUND',
  'E_RUN_NOT_FOUND',
  'E_OUTCOME_UNKNOWN',
  'E_UNKNOWN',
  'E_CONFIG_INVALID',
  'E_PERMISSION',
];

const CONFIG = 'version: 1\nenvironment: { cancel_grace_s: 0.1 }\nsecurity: { isolation: off }\n';

const ASK = {
  type: 'action_required',
  action: 'go',
  action_id: 'q',
  blocking: true,
  context: {},
  options: [{ id: 'yes' }, { id: 'no' }],
};

const TOOLS: Readonly<Record<string, { manifest?: object; script: string }>> = {
  reports: {
    manifest: { inputs: [{ name: 'code', required: true }], retry: { max_attempts: 1 } },
    script: `echo '{"type":"error","code":"'"$2"'","msg":"said by the tool"}'; exit 1`,
  },
  ends: { script: `echo '{"type":"result","status":"ok"}'` },
  waits: { manifest: { idempotent: true }, script: 'touch here; exec sleep 600' },
  keeps: { script: 'echo 1 >"$CHECKPOINT_DIR/stage"; touch here; exec sleep 600' },
  silent: { manifest: { heartbeat_grace_s: 0.3 }, script: 'exec sleep 600' },
  silent_safe: { manifest: { heartbeat_grace_s: 0.3, idempotent: true }, script: 'exec sleep 600' },
  floods: { manifest: { max_output_size: 1000 }, script: 'exec yes' },
  breaks: { script: 'exit 3' },
  asks: {
    manifest: { actions: ['go'] },
    script: `echo '${JSON.stringify(ASK)}'; read -r a; echo '{"type":"result","status":"ok"}'`,
  },
  asks_briefly: {
    manifest: { actions: ['go'] },
    script: `echo '${JSON.stringify({ ...ASK, timeout_s: 0.1 })}'; read -r a; sleep 600`,
  },
  reads: {
    manifest: { inputs: [{ name: 'file', type: 'path', access: 'read', required: true }] },
    script: 'exit 0',
  },
  privileged: { manifest: { permissions: { level: 'privileged' } }, script: 'exit 0' },
  newer: { manifest: { min_acor_version: '99.0.0' }, script: 'exit 0' },
  needs: { manifest: { env: { require: ['NO_SUCH_VARIABLE'] } }, script: 'exit 0' },
  emits: {
    script: `echo '{"type":"log","level":"info","msg":"r","record":{"n":1}}'; echo '{"type":"result","status":"ok"}'`,
  },
  takes: { manifest: { stdin: 'records' }, script: 'cat >/dev/null; exit 3' },
};

const STEP = { name: 'one', tool: 'breaks' };

/** A project with a tool and a workflow for each kind of ending. */
export function nextProject(): TestProject {
  const project = new TestProject({ config: CONFIG });
  for (const [name, { manifest, script }] of Object.entries(TOOLS)) {
    project.write(
      `tools/${name}/tool.yaml`,
      JSON.stringify({ name, version: '1.0.0', entry: 'cli.sh', ...manifest }),
    );
    project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
  }
  project.write('workflows/fails.json', JSON.stringify({ name: 'fails', steps: [STEP] }));
  project.write(
    'workflows/waits.json',
    JSON.stringify({ name: 'waits', steps: [{ name: 'one', tool: 'waits' }] }),
  );
  project.write(
    'workflows/late.json',
    JSON.stringify({ name: 'late', timeout_s: 0.5, steps: [{ name: 'one', tool: 'waits' }] }),
  );
  project.write(
    'workflows/nightly.json',
    JSON.stringify({
      name: 'nightly',
      inputs: { date: { required: true } },
      steps: [{ name: 'one', tool: 'ends' }],
    }),
  );
  project.write(
    'workflows/wrong.json',
    JSON.stringify({ name: 'wrong', steps: [{ name: 'one', tool: 'nothing' }] }),
  );
  return project;
}
