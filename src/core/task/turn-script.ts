import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { shellCommand } from '../../util/shell-quote.ts';
import type { RunWorkspace } from '../run/workspace.ts';
import type { Executor, RunSlot } from './executors.ts';
import type { TurnFile } from './responses/turn-file.ts';

/** How an executor is started: the same words for each turn, so that what is confined stays the same. */
export const TURN_COMMAND: readonly string[] = ['sh', '-c', '. "${CANCEL_FILE%/*}/turn.sh"', 'task'];

/**
 * Writes what is to be started in the next turn, where the executor can read it and not write: its folder, its home, its key, its words.
 * The key is read from its file inside of the sandbox; outside, it is in no environment.
 */
export function writeTurn(
  { toolControl }: RunWorkspace,
  executor: Executor,
  turn: RunSlot,
  places: {
    root: string;
    home: string;
    userHome: string;
    writes: readonly string[];
    hasKey: boolean;
  },
): void {
  const { root, home, userHome, writes, hasKey } = places;
  const { prompt, instructions, session, settings } = turn;
  const file: TurnFile = {
    prompt,
    instructions,
    session,
    root,
    writes,
    model: settings.model ?? null,
    max_iterations: settings.max_iterations,
    max_cost_usd: settings.max_cost_usd ?? null,
    price: settings.price ?? null,
  };
  writeAtomic(join(toolControl, 'turn.json'), JSON.stringify(file), { mode: 0o644 });
  const hearsAnswers = executor.adapter === 'jsonl';
  const lines = [
    `TASK_ID=${quoted(turn.taskId)}; export TASK_ID`,
    ...homeLines(executor, home, userHome, hasKey),
    ...keyLines(executor, settings.secrets),
    ...(turn.isConfined ? ['IS_SANDBOX=1; export IS_SANDBOX'] : []),
    `cd ${quoted(root)} || exit 1`,
    // What stands on the standard input would be taken for a part of the prompt.
    `exec ${shellCommand(executor.argv(turn))}${hearsAnswers ? '' : ' </dev/null'}`,
  ];
  writeAtomic(join(toolControl, 'turn.sh'), `${lines.join('\n')}\n`, { mode: 0o644 });
}

function homeLines(
  { keeps, login, settingsFile }: Executor,
  home: string,
  userHome: string,
  hasKey: boolean,
): string[] {
  const lines = [`HOME=${quoted(home)}; export HOME`];
  if (keeps !== null) {
    const folder = quoted(join(home, keeps.folder));
    lines.push(`mkdir -p ${folder}`);
    if (keeps.variable !== null) lines.push(`${keeps.variable}=${folder}; export ${keeps.variable}`);
  }
  if (login !== null) {
    const own = quoted(join(userHome, login));
    lines.push(`[ ! -f ${own} ] || ln -sf ${own} ${quoted(join(home, login))}`);
  }
  if (settingsFile !== undefined) {
    const { path, text } = settingsFile(hasKey);
    lines.push(`printf '%s\\n' ${quoted(text)} >${quoted(join(home, path))}`);
  }
  return lines;
}

function keyLines({ key }: Executor, secrets: readonly string[]): string[] {
  const wanted = [
    ...(key === null ? [] : key.variables.map((variable) => [key.secret, variable] as const)),
    ...secrets.map((name) => [name, name] as const),
  ];
  return wanted.map(
    ([secret, variable]) =>
      `[ ! -f "$SECRETS_DIR/${secret}" ] || { ${variable}=$(cat "$SECRETS_DIR/${secret}"); export ${variable}; }`,
  );
}

function quoted(text: string): string {
  return shellCommand([text]);
}
