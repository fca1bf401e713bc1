import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import { runLimited, SHARED_MEMORY } from '../support/limited-run.ts';
import { SandboxRig } from '../support/sandbox-rig.ts';

const who = process.getuid?.() === 0 ? 'root' : 'an ordinary user';

/** What limits must not do under any backend. That they hold a tool is part of the attacks (test/attacks). */
export function limitsContract(backend: SandboxBackend): void {
  describe(`under '${backend.name}', for ${who}, a tool`, () => {
    let rig: SandboxRig;
    before(async () => {
      rig = await SandboxRig.make();
    });
    after(() => rig.remove());

    it('is not charged twice for memory that two of its processes share', async () => {
      const { came, stderr } = await runLimited(rig, backend, SHARED_MEMORY, { memory_mb: 160 }, 200);
      assert.equal(came, 'rc 0', stderr);
    });

    it('of ordinary size works within the limits of its level', async () => {
      const limits = { cpu_seconds: 60, memory_mb: 512, processes: 64, open_files: 256, disk_mb: 200 };
      const script = `python3 -c 'import json, threading; t = threading.Thread(target=print); t.start(); t.join()'`;
      const { came, stderr } = await runLimited(rig, backend, script, limits);
      assert.equal(came, 'rc 0', stderr);
    });
  });
}
