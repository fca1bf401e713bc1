import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canGiveUsers } from '../identity/run-users.ts';
import { architecture } from '../profile/profile.ts';
import type { LaunchOptions, SandboxLaunch, SandboxProbe, SandboxRequest } from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import { installCommand } from '../trusted-program.ts';
import type { ContainerFeatures } from './container-arguments.ts';
import { type ContainerSettings, Engine } from './engine.ts';
import { type Trial, type TrialOptions, tryOut } from './try-out.ts';

/** Copies stdin to stdout, writes a file, checks that forbidden paths are absent, and exits with a known code. */
const TRIAL = `
$| = 1;
print <STDIN>; print STDERR 'words';
open(FILE, '>', 'left') and print FILE 'x' or print ' cannot-write';
open(TMP, '>', '/tmp/x') or print ' no-tmp';
open(NET, '<', '/proc/net/dev'); print ' network' if grep { /^\\s*(\\w+):/ && $1 ne 'lo' } <NET>;
print ' root' if $> == 0; print ' writable' if open(ROOT, '>', '/usr/.acor-probe');
exit 7;
`;
const WORD = 'a word';
const CANNOT_START = /No such file|not found|cannot find|no such file/i;

/** Prepares a launch in a container with the assumed features of this engine. */
type LaunchWith = (
  request: SandboxRequest,
  features: ContainerFeatures,
  options: LaunchOptions,
) => SandboxLaunch;

/** Runs a Perl script in such a container. */
type RunTrial = (features: ContainerFeatures, script?: string, options?: TrialOptions) => Promise<Trial>;

/** Tests whether a container of this image can confine tools here, by running attacks in it. */
export async function probeContainer(settings: ContainerSettings, launch: LaunchWith): Promise<SandboxProbe> {
  const engine = new Engine(settings);
  if (process.platform !== 'linux' || architecture() === undefined) {
    return { available: false, detail: `containers are used on Linux, on x64 and arm64` };
  }
  if (engine.program === undefined) {
    return {
      available: false,
      detail: `there is no ${engine.name} that only root can change, as security.container.command requires`,
      fix: installCommand(engine.name, { 'apt-get': engine.name === 'docker' ? 'docker.io' : engine.name }),
    };
  }
  const limits = { memory_mb: 200, processes: 20 };
  const trial: RunTrial = (features, script = '', options = {}) =>
    tryOut(
      (request, launchOptions) => launch({ ...request, limits }, features, launchOptions),
      ['/usr/bin/perl', '-e', script],
      options,
    );
  const found = await featuresOf(trial, engine);
  if ('trouble' in found) return troubled(settings, engine, found.trouble);
  const wrong = (await faultOf(trial, found)) ?? (await killFaultOf(trial, found));
  if (wrong !== undefined) return { available: false, detail: `${engine.name} works, but ${wrong}` };
  const missing = [
    ...(found.groups ? [] : ['the engine limits neither memory nor processes']),
    ...(found.landlock ? [] : ['programs are not limited by name']),
  ];
  const detail = ['works', `image ${settings.image}`, ...missing].join('; ');
  return { available: true, detail, features: { ...found } };
}

/** Finds the features by requesting all of them first. */
async function featuresOf(trial: RunTrial, engine: Engine): Promise<ContainerFeatures | { trouble: string }> {
  const features = {
    groups: true,
    landlock: true,
    lowersLimits: false,
    keepsId: engine.isPodman && !canGiveUsers(),
  };
  for (;;) {
    const { trouble } = await trial(features);
    if (trouble === undefined) return features;
    if (features.landlock && /landlock/.test(trouble)) features.landlock = false;
    else if (!features.lowersLimits && /rlimit/.test(trouble)) features.lowersLimits = true;
    else if (features.groups && /cgroup|memory|pids/i.test(trouble)) features.groups = false;
    else return { trouble };
  }
}

async function faultOf(trial: RunTrial, features: ContainerFeatures): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'acor-probe-'));
  const stdin = scratchFile(folder, WORD);
  let owner: number | undefined;
  try {
    const { output, rc, trouble } = await trial(features, TRIAL, {
      stdin,
      inspect: (work) => {
        owner = statSync(join(work, 'left'), { throwIfNoEntry: false })?.uid;
      },
    });
    if (trouble !== undefined) return trouble;
    if (output !== WORD) return `a tool in it printed '${output}' instead of '${WORD}'`;
    if (rc !== 7) return `a tool in it exited with ${rc} instead of 7`;
    const isOwn = canGiveUsers() ? owner !== 0 : owner === process.getuid!();
    return isOwn ? undefined : `what a tool writes belongs to user ${owner}: its users are mapped to others`;
  } finally {
    closeSync(stdin);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function killFaultOf(trial: RunTrial, features: ContainerFeatures): Promise<string | undefined> {
  const { trouble, rc } = await trial(features, `$| = 1; print 'ready'; sleep 60; exit 7`, {
    onOutput({ forceKillCommand = [] }) {
      execFile(forceKillCommand[0]!, forceKillCommand.slice(1), () => {});
    },
  });
  if (trouble !== undefined) return trouble;
  return rc === 7 ? 'a container cannot be stopped' : undefined;
}

function troubled(settings: ContainerSettings, engine: Engine, trouble: string): SandboxProbe {
  const { image } = settings;
  const call = engine.other(engine.name, []).join(' ');
  const fix = /cannot connect|daemon/i.test(trouble)
    ? `Start the engine, then: ${call} version`
    : /perl/.test(trouble) && CANNOT_START.test(trouble)
      ? `Use an image with /usr/bin/perl, such as one made from debian:stable-slim, in security.container.image`
      : /no such image|image not known|unable to find image/i.test(trouble)
        ? `${call} pull ${image}`
        : `Find out with: ${engine.run(engine.name).join(' ')} --rm --network=none --entrypoint=/usr/bin/perl ${image} -e 1`;
  return { available: false, detail: trouble, fix };
}
