import type { ProcessTree, Survivor } from '../../process/kill-tree.ts';
import type { ControlFolder } from '../../store-files/control-folder.ts';
import { after } from './guards/guard.ts';

const POLL_MS = 5;
/** What was just finishing by itself gets this long before it counts as left behind. */
const SETTLE_MS = 60;
const LEFTOVER_GRACE_MS = 1000;

/**
 * The ladder (contract §3): the cancel file with the reason, a grace, SIGTERM to the whole tree, a grace, SIGKILL to the whole tree.
 * `forceCancel` settles when there is to be no more grace.
 */
export async function stopTool(options: {
  tree: ProcessTree;
  exited: Promise<unknown>;
  control: ControlFolder;
  reason: string;
  graceMs: number;
  forceCancel: Promise<unknown>;
}): Promise<void> {
  const { tree, exited, graceMs, forceCancel } = options;
  options.control.reportTool(options.reason);
  if (await endsWithin(exited, graceMs, forceCancel)) return;
  tree.signal('SIGTERM');
  if (await endsWithin(exited, graceMs, forceCancel)) return;
  await tree.kill();
  await exited;
}

/** Ends what a tool left running when it ended itself, and tells how many there were and what could not be ended. */
export async function endLeftovers(tree: ProcessTree): Promise<{ left: number; survivors: Survivor[] }> {
  if (await diesOut(tree, SETTLE_MS)) return { left: 0, survivors: [] };
  const left = tree.members().length;
  tree.signal('SIGTERM');
  if (await diesOut(tree, LEFTOVER_GRACE_MS)) return { left, survivors: [] };
  return { left, survivors: await tree.kill() };
}

async function diesOut(tree: ProcessTree, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (;;) {
    if (tree.members().length === 0) return true;
    if (performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function endsWithin(
  exited: Promise<unknown>,
  ms: number,
  forceCancel: Promise<unknown>,
): Promise<boolean> {
  let stopTimer = () => {};
  const timeUp = new Promise<false>((resolve) => {
    stopTimer = after(ms, () => resolve(false));
  });
  const result = await Promise.race([exited.then(() => true), timeUp, forceCancel.then(() => false)]);
  stopTimer();
  return result;
}
