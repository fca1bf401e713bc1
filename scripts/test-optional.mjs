// `npm run test:openai`, `test:frameworks`, `test:mcp-clients` and `test:collector`: tests with real packages that are too large to be installed for every
// test. They come into a folder of their own, and go with it; the environment variable names a folder that has them, and stays.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The versions that the tests were written against. */
const SUITES = {
  openai: {
    packages: ['openai@7.55.0'],
    test: 'test/optional/responses.test.ts',
    variable: 'ACOR_TEST_OPENAI',
  },
  frameworks: {
    packages: ['@openai/agents@0.20.0', 'langchain@1.5.14', '@langchain/core@1.4.0'],
    test: 'test/optional/frameworks.test.ts',
    variable: 'ACOR_TEST_FRAMEWORKS',
  },
  'mcp-clients': {
    packages: ['@modelcontextprotocol/inspector@2.12.0', '@apify/mcpc@0.2.6'],
    python: ['fastmcp==4.0.10', 'mcp==2.3.0'],
    test: 'test/optional/mcp-clients.test.ts',
    variable: 'ACOR_TEST_MCP_CLIENTS',
  },
  collector: {
    packages: ['@genkit-ai/telemetry-server@1.43.0'],
    test: 'test/optional/collector.test.ts',
    variable: 'ACOR_TEST_COLLECTOR',
  },
};

const root = join(import.meta.dirname, '..');
const { packages, python, test, variable } = SUITES[process.argv[2]];
const given = process.env[variable];
const folder = given ?? mkdtempSync(join(tmpdir(), 'acor-packages-'));

try {
  if (given === undefined) {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', ...packages],
      folder,
    );
    if (python) {
      // Each package that an unreachable index lacks is looked for in the next one at once.
      run('python3', ['-m', 'venv', 'python'], folder);
      run(join(folder, 'python', 'bin', 'pip'), ['install', '--quiet', '--retries', '0', ...python], folder);
    }
  }
  run(join(root, 'node_modules', '.bin', 'bun'), ['test', '--timeout', '120000', test], root);
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}

function run(program, args, cwd) {
  const { status } = spawnSync(program, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, [variable]: folder },
  });
  if (status !== 0) process.exitCode = 1;
}
