import { unreachable } from '../../util/unreachable.ts';
import type { Message } from './message.ts';

const SUBJECT_CHARS = 120;

/** A message in one line, without control characters: its words are a tool's. */
export function subjectOf({ type, data }: Message): string {
  return `[acor] ${words()}`.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').slice(0, SUBJECT_CHARS);

  function words(): string {
    switch (type) {
      case 'run.question':
        return `${data['tool']} asks: ${data['msg'] ?? data['action']}`;
      case 'run.ended':
        return `${data['tool']} ${data['state']}${data['code'] ? ` (${data['code']})` : ''}`;
      case 'run.budget':
        return `${data['tool']}: ${data['msg']}`;
      case 'trace':
        return `${data['tool']}: traces`;
      case 'test':
        return 'test of the notifications';
      default:
        return unreachable(type);
    }
  }
}

/** A message as text for a person: what happened, then the commands that lead on. */
export function textOf(message: Message): string {
  const { data, timestamp } = message;
  const commands = (data['next'] as string[] | undefined) ?? [];
  const lines = [
    subjectOf(message).replace('[acor] ', ''),
    '',
    ...['project', 'run_id', 'action_id', 'deadline', 'message'].flatMap((key) =>
      data[key] === undefined || data[key] === null ? [] : [`${key}: ${String(data[key])}`],
    ),
    `time: ${timestamp}`,
    '',
    ...commands,
  ];
  return `${lines.map((line) => line.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')).join('\n')}\n`;
}
