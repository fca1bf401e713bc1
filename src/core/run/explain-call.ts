import { errorInfo } from '../../protocol/error-codes.ts';
import { execProgram } from '../../protocol/names.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { EgressSettings } from '../sandbox/egress/egress-plan.ts';
import { withPort } from '../sandbox/egress/host.ts';
import { fixForHost } from './fix-for-hosts.ts';
import type { Outcome } from './outcome.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

/** What git says in a repository of another user. */
const FOREIGN_REPOSITORY = /detected dubious ownership in repository at '([^'\p{Cc}]{1,4096})'/u;

/** What programs say of what Landlock keeps closed and bubblewrap replaces. */
const CLOSED = /permission denied|\bEACCES\b|getpwuid|getgrgid|uv_os_get_passwd|name for (user|group) ID/i;
const CLOSED_BY_LANDLOCK =
  'Landlock, the sandbox of this run, closes to every tool: /dev/shm (pools of processes, semaphores), the accounts in /etc/passwd, and the list of a folder that holds .runs or .acor (name its files and folders instead). Bubblewrap has a replacement for each; the health check of ACOR says how to get it.';

/** Each folder of a run is a mount of its own in bubblewrap and containers, and no name crosses mounts. */
const CROSSES_MOUNTS = /invalid cross-device link|\bEXDEV\b/i;
const COPY_INSTEAD =
  'No file can be renamed or hard-linked from one folder of the sandbox to another, such as from the workspace to ARTIFACTS_DIR. Write it there at once, or move it by a copy, as mv and shutil.move of Python do.';

/**
 * Gives a failed run a hint from its call, when neither the tool nor the sandbox has a more specific one: git in a repository that the user
 * of the run does not own, what Landlock closes to every tool, a rename across mounts, an address of `acor exec` without its `--net`, and a program of
 * `acor exec` that started in an empty folder.
 */
export function explainCall(plan: ToolPlan, outcome: Outcome, words: string, settings: EgressSettings): void {
  const isSpecific = outcome.hint !== null && outcome.hint !== errorInfo(outcome.code ?? '')?.hint;
  const hint = isSpecific
    ? undefined
    : (foreignRepository(words) ?? ofSandbox(plan, outcome, words) ?? ofExec(plan, outcome, settings));
  if (hint !== undefined) outcome.hint = hint;
}

/** The variables that would configure git are refused to tools, because they can make git start programs. */
function foreignRepository(words: string): string | undefined {
  const path = FOREIGN_REPOSITORY.exec(words)?.[1];
  if (path === undefined) return undefined;
  const flag = shellCommand([`safe.directory=${path}`]);
  return `The user of the run does not own the repository: a run of root has a user of its own. Call git with: git -c ${flag} … (your own git configuration is not in the sandbox)`;
}

function ofSandbox({ sandboxed }: ToolPlan, { code }: Outcome, words: string): string | undefined {
  if (code !== 'E_TOOL_FAILED') return undefined;
  if (sandboxed.isolation.backend === 'landlock' && CLOSED.test(words)) return CLOSED_BY_LANDLOCK;
  return CROSSES_MOUNTS.test(words) ? COPY_INSTEAD : undefined;
}

function ofExec(plan: ToolPlan, { isBareExit }: Outcome, settings: EgressSettings): string | undefined {
  const { tool, grants, staged, args } = plan;
  if (execProgram(tool.name) === undefined) return undefined;
  const { egress_allow } = tool.manifest.permissions.network;
  const host = args.map(addressIn).find((each) => each !== undefined);
  if (host !== undefined && egress_allow.length === 0) {
    const flag = `pass the flag --net ${withPort(host.host, host.port)}`;
    return `The program has no network. To allow it: ${fixForHost(flag, host, plan, settings)}`;
  }
  if (tool.startsIn !== undefined || grants.length + staged.length > 0) return undefined;
  // A signal has another cause, and so has a program that was given a network.
  if (isBareExit !== true || egress_allow.length > 0) return undefined;
  return 'The program started in an empty folder. If it needs the files of this one, pass the flag --read .';
}

/** The port at a host that an address among the arguments has. */
export function portOf(args: readonly string[], host: string): number | undefined {
  return args.map(addressIn).find((each) => each?.host === host)?.port;
}

function addressIn(word: string): { host: string; port: number } | undefined {
  if (!/^https?:\/\//.test(word) || !URL.canParse(word)) return undefined;
  const { hostname, port, protocol } = new URL(word);
  return {
    host: hostname.replace(/^\[(.+)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}
