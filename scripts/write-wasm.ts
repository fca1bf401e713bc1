import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Compiles wasm/scan-lines.ts and writes it as text, which every bundle can hold. With --check it writes nothing, and exits 1 when the text is stale.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const TARGET = join(ROOT, 'src/protocol/v1/scan-lines-wasm.ts');
/** The memory has a fixed size: texts, a chunk, and what it becomes. */
const PAGES = '13';

const text = `// Written by scripts/write-wasm.ts from wasm/scan-lines.ts.
export const SCAN_LINES_WASM =
  '${compiled().toString('base64')}';
`;
if (!process.argv.includes('--check')) writeFileSync(TARGET, text);
else if (readFileSync(TARGET, 'utf8') !== text) {
  process.stderr.write('src/protocol/v1/scan-lines-wasm.ts is stale\n');
  process.stderr.write('Write it again: node_modules/.bin/bun scripts/write-wasm.ts\n');
  process.exitCode = 1;
}

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
