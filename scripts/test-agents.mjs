// `npm run test:agents`: Claude Code, Codex and Gemini CLI as they are, against models whose words are written beforehand, on this
// machine. It is no part of `npm test`: it installs about 900 MB into a temporary folder. With ACOR_AGENT_CLIENTS it takes the folder
// of that name, and leaves it there. Arguments narrow it down: npm run test:agents -- -t codex
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The versions that the tests were written against. */
const CLIENTS = {
  claude: ['@anthropic-ai/claude-code', '2.1.329'],
  codex: ['@openai/codex', '0.169.0'],
  gemini: ['@google/gemini-cli', '0.61.0'],
};

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
const given = process.env.ACOR_AGENT_CLIENTS;
const folder = given ?? mkdtempSync(join(tmpdir(), 'acor-agents-'));
// Gemini CLI needs a newer Node than some systems have.
const PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`;

try {
  for (const [name, [pack, version]] of Object.entries(CLIENTS)) install(name, pack, version);
  run('sh', ['scripts/build.sh']);
  const only = process.argv.slice(2);
  const args = [
    'test',
    '--timeout',
    '120000',
    ...only,
    './test/agents/agents.ts',
    './test/agents/live-situations.ts',
    './test/agents/tasks.ts',
    './test/agents/validators.ts',
  ];
  process.exitCode =
    spawnSync('node_modules/.bin/bun', args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, PATH, ACOR_AGENT_CLIENTS: folder },
    }).status ?? 1;
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}

function install(name, pack, version) {
  const own = join(folder, name);
  if (existsSync(join(own, 'node_modules', '.bin', name))) return;
  mkdirSync(own, { recursive: true });
  // Claude Code puts its program in place in a script of its package.
  writeFileSync(join(own, 'package.json'), JSON.stringify({ private: true, allowScripts: { [pack]: true } }));
  run(
    'npm',
    ['install', '--prefix', own, '--no-audit', '--no-fund', '--loglevel=error', `${pack}@${version}`],
    own,
  );
}

function run(program, args, cwd = root) {
  const { status } = spawnSync(program, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH },
  });
  if (status === 0) return;
  throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
}
