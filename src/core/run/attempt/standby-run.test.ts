import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defaultManifest } from '../../../protocol/default-manifest.ts';
import type { Grant } from '../../registry/arguments.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import { warmStartOf } from './standby-run.ts';

it('an interpreter starts before its run only when its manifest wants that and the run may not write outside of its workspace', () => {
  const start = (warm: boolean, grants: Grant[]) =>
    warmStartOf({
      tool: { manifest: { ...defaultManifest('t'), warm } },
      command: {
        argv: ['python3', 't.py'],
        warm: ['python3', 'start.py', 't.py'],
        runtime: 'python3',
        env: { A: '1' },
      },
      ...{ digest: 'd', grants, callerEnv: {}, baseAllowlist: [] },
    } as unknown as ToolPlan);
  const read: Grant = { input: 'data', path: '/data', access: 'read' };
  const expected = { argv: ['python3', 'start.py', 't.py'], env: { A: '1' } };
  assert.deepEqual([start(true, []), start(true, [read])], [expected, expected]);
  assert.equal(start(true, [read, { input: 'out', path: '/out', access: 'write' }]), undefined);
  assert.equal(start(false, []), undefined);
});
