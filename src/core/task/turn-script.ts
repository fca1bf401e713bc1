import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { Rates } from '../cost/rates.ts';
import type { RunWorkspace } from '../run/workspace.ts';
import type { Executor, RunSlot } from './executors.ts';
import type { TurnFile } from './responses/turn-file.ts';

/** The executor's start command: equal for each turn, so that its sandbox stays the same. */
export const TURN_COMMAND: readonly string[] = ['sh', '-c', '. "${CANCEL_FILE%/*}/turn.sh"', 'task'];

/**
 * Writes the script for the next turn, which the executor can read but not write: its folder, home, key and arguments.
 * The script reads the key from a file inside the sandbox, so the key is in no environment outside.
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
    /** The prices of the model, for an executor that counts its own spending; null when they are unknown. */
    rates: Rates | null;
    hasKey: boolean;
  },
): void {
  const { root, home, userHome, writes, rates, hasKey } = places;
  const { prompt, instructions, session, settings } = turn;
  const file: TurnFile = {
    prompt,
    instructions,
    session,
    root,
    writes,
    model: turn.model ?? '',
    max_iterations: settings.max_iterations,
    max_cost_usd: turn.budgetUsd,
    price: rates,
  };
  writeAtomic(join(toolControl, 'turn.json'), JSON.stringify(file), { mode: 0o644 });
  const hearsAnswers = executor.adapter === 'jsonl';
  const lines = [
    `TASK_ID=${quoted(turn.taskId)}; export TASK_ID`,
    ...homeLines(executor, home, userHome, hasKey),
    ...keyLines(executor, settings.secrets),
    ...(turn.isConfined ? ['IS_SANDBOX=1; export IS_SANDBOX'] : []),
    `cd ${quoted(root)} || exit 1`,
    // The program would read standard input as part of the prompt.
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
