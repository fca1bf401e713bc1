import type { Part } from '../display-width.ts';
import type { Screen } from '../screen.ts';

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const ASCII_SPINNER = ['|', '/', '-', '\\'] as const;
const FRAME_MS = 100;

/** A progress bar of this many columns with its percentage. */
export function progressBar(pct: number, columns: number, screen: Screen): Part[] {
  const share = Math.min(100, Math.max(0, pct)) / 100;
  const full = Math.floor(share * columns);
  const [done, open] = screen.unicode ? ['█', '░'] : ['#', '.'];
  return [
    [done.repeat(full), 'green'],
    [open.repeat(columns - full), 'dim'],
    ` ${String(Math.floor(share * 100)).padStart(3)}%`,
  ];
}

/** A spinner of one column. */
export function spinner(nowMs: number, screen: Pick<Screen, 'unicode'>): string {
  const frames = screen.unicode ? SPINNER : ASCII_SPINNER;
  return frames[Math.floor(nowMs / FRAME_MS) % frames.length]!;
}
