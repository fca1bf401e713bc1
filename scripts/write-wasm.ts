import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeGenerated } from './write-generated.ts';

// Compiles wasm/scan-lines.ts and writes it as text, which every bundle can hold. With --check it writes nothing, and exits 1 when the text is stale.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** The memory has a fixed size: texts, a chunk, and what it becomes. */
const PAGES = '13';

writeGenerated(
  'src/protocol/v1/scan-lines-wasm.ts',
  `// Written by scripts/write-wasm.ts from wasm/scan-lines.ts.
export const SCAN_LINES_WASM =
  '${compiled().toString('base64')}';
`,
);

function compiled(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'acor-wasm-'));
  try {
    const output = join(folder, 'scan-lines.wasm');
    const flags = [
      '-O3',
      '--enable',
      'simd',
      '--noAssert',
      '--runtime',
      'stub',
      '--initialMemory',
      PAGES,
      '--maximumMemory',
      PAGES,
    ];
    const words = ['wasm/scan-lines.ts', '--outFile', output, ...flags];
    execFileSync(join(ROOT, 'node_modules/.bin/asc'), words, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
