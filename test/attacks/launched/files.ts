import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AttemptOutcome, isConfined, type Payload } from './payload.ts';

/** A link where the next launch would mount something: bubblewrap follows it out of the sandbox. */
const plantedMount: Payload = async ({ rig, open }, backend) => {
  const target = join(open, 'mounted');
  const sub = join(rig.writable, 'sub');
  rmSync(sub, { recursive: true, force: true });
  mkdirSync(target);
  try {
    if (!isConfined(backend)) return [plainBubblewrap(rig.writable, target)];
    mkdirSync(sub);
    writeFileSync(join(sub, 'grant'), 'x\n');
    const grants = [
      { path: rig.writable, access: 'write' as const },
      { path: join(sub, 'grant'), access: 'read' as const },
    ];
    const plant = () => {
      rmSync(sub, { recursive: true });
      symlinkSync(`/oldroot${target}`, sub);
    };
    const { rc } = await rig.bash(backend, 'exit 7', { request: { grants }, beforeLaunch: plant });
    return [{ probe: 'link', harm: readdirSync(target).length > 0, word: `rc ${rc}` }];
  } finally {
    rmSync(sub, { recursive: true, force: true });
    rmSync(target, { recursive: true });
  }
};

/** As a launcher does it that mounts below what the tool may write. */
function plainBubblewrap(writable: string, target: string): AttemptOutcome {
  symlinkSync(`/oldroot${target}`, join(writable, 'sub'));
  const mounts = [
    '--ro-bind',
    '/usr',
    '/usr',
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--symlink',
    'usr/lib',
    '/lib',
  ];
  const inner = ['--bind', writable, '/work', '--ro-bind', '/etc/hostname', '/work/sub/planted'];
  const { stderr, error } = spawnSync('bwrap', [...mounts, ...inner, '/usr/bin/true'], { encoding: 'utf8' });
  const harm = existsSync(join(target, 'planted'));
  const cannot = error ? 'bubblewrap is not here' : 'the bubblewrap that is here follows no such link';
  return { probe: 'link', harm, word: stderr, ...(!harm && { cannot }) };
}

const swappedGrant: Payload = async ({ rig }, backend) => {
  const grant = join(rig.root, 'swapped');
  mkdirSync(grant);
  const beforeLaunch = () => {
    renameSync(grant, `${grant}-away`);
    symlinkSync(join(rig.root, 'outside'), grant);
  };
  const request = { grants: [{ path: grant, access: 'read' as const }] };
  try {
    const { stdout } = await rig.bash(backend, `cat ${grant}/secret`, { request, beforeLaunch });
    return [{ probe: 'folder', harm: stdout.includes('the secret'), word: 'ENOENT' }];
  } catch (error) {
    return [{ probe: 'folder', harm: false, word: String((error as { code?: string }).code) }];
  } finally {
    rmSync(grant, { force: true, recursive: true });
    rmSync(`${grant}-away`, { force: true, recursive: true });
  }
};

export const files: Readonly<Record<number, Payload>> = { 12: plantedMount, 13: swappedGrant };
