import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isInside } from '../../util/real-path.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { userFolder } from '../config/find.ts';
import { type Denial, explainDenial, remedySentence } from '../policy/explain-denial.ts';
import { pathIn } from '../registry/ad-hoc.ts';
import { grantRoots } from '../registry/path-grants.ts';
import { ownFolders } from './plan/resolve-call.ts';
import type { ToolPlan } from './plan/tool-plan.ts';
import type { RunnerServices } from './services.ts';

const OUTSIDE = 'is outside the folders that ACOR may grant';

type PathDenial = Extract<Denial, { path: string }>;

/** How the caller of `acor exec` allows what the sandbox denied: by a flag, and by what that flag needs. */
export function fixForExec(denial: Denial, services: RunnerServices, plan: ToolPlan): string {
  switch (denial.kind) {
    case 'host':
      return passFlag('--net', entryOf(denial));
    case 'command':
      return passFlag('--cmd', entryOf(denial));
    case 'read':
      return ofRead(denial, services, plan);
    case 'write':
      return ofWrite(denial, services, plan);
  }
}

function passFlag(flag: string, value: string): string {
  return `pass the flag ${shellCommand([flag, value])}`;
}

function entryOf(denial: Denial): string {
  return explainDenial(denial).line.replace(/^- "?|"$/g, '');
}

function ofRead({ path, isFolder }: PathDenial, services: RunnerServices, plan: ToolPlan): string {
  const flag = passFlag('--read', path);
  if (isGrantable(path, services, plan)) return flag;
  const file = join(userFolder('XDG_CONFIG_HOME', '.config', plan.callerEnv), 'config.yaml');
  const { line } = explainDenial({ kind: 'read', path: isFolder ? path : dirname(path) });
  const added = remedySentence({ file, path: 'security.grant_roots', line });
  return `copy it into ${services.config.root}, because ${path} ${OUTSIDE}. Or add its folder to them: ${added}; then ${flag}`;
}

/** To create or replace a file, a program needs its folder. ACOR grants no folder that holds its own, but an existing file in it, and a new one that is an argument. */
function ofWrite({ path, isFolder }: PathDenial, services: RunnerServices, plan: ToolPlan): string {
  const folder = isFolder ? path : dirname(path);
  const isHeld = ownFolders(services, plan.callerEnv).some((own) => isInside(own, folder));
  const isNamed = plan.args.some((word) => resolve(plan.cwd, pathIn(word)) === path);
  const isFile = !isFolder && (isNamed || existsSync(path));
  const isOpen = isGrantable(folder, services, plan);
  if (isOpen && (!isHeld || isFile)) return passFlag('--write', isHeld ? path : folder);
  const out = join(services.config.root, 'out');
  const why = isOpen ? `ACOR keeps its own files in ${folder}` : `${folder} ${OUTSIDE}`;
  return `let the program write into a new folder (${shellCommand(['mkdir', '-p', out])}), because ${why}, and ${passFlag('--write', out)}`;
}

/** ACOR grants paths only inside some folders, or asks for others. */
function isGrantable(path: string, { config }: RunnerServices, { cwd }: ToolPlan): boolean {
  const isAsked = config.config.security.on_denied === 'ask';
  return isAsked || grantRoots(config, cwd).some((root) => isInside(path, root));
}
