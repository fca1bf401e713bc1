import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { runQueueContract } from '../../../test/contracts/run-queue.ts';
import { FileRunQueue } from './file-run-queue.ts';

const HOLDER = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'hold-place.ts');
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

runQueueContract('files', {
  make() {
    const root = mkdtempSync(join(tmpdir(), 'acor-queue-'));
    folders.push(root);
    return {
      open: () => new FileRunQueue(root),
      async killHolderIn(limits) {
        const holder = spawn(process.execPath, [HOLDER, root, JSON.stringify(limits)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [line] = await once(holder.stdout!, 'data');
        holder.kill('SIGKILL');
        await once(holder, 'exit');
        return String(line).trim();
      },
    };
  },
});
