const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

/** A duration in its two largest units: `0.4 s`, `12 s`, `2 min 5 s`, `1 h 3 min`, `2 d 4 h`. */
export function durationWords(seconds: number): string {
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return twoUnits(whole, MINUTE_S, 'min', 1, 's');
  if (whole < DAY_S) return twoUnits(whole, HOUR_S, 'h', MINUTE_S, 'min');
  return twoUnits(whole, DAY_S, 'd', HOUR_S, 'h');
}

/** The time since a moment, in its largest whole unit. */
export function agoWords(time: string, nowMs: number = Date.now()): string {
  const seconds = Math.floor((nowMs - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return '';
  if (seconds < 5) return 'just now';
  if (seconds < MINUTE_S) return `${seconds} s ago`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ago`;
  return seconds < DAY_S ? `${Math.floor(seconds / HOUR_S)} h ago` : `${Math.floor(seconds / DAY_S)} d ago`;
}

/** A moment in the reader's time zone: `2026-11-21 14:03:22`; a text that is not a time stays unchanged. */
export function localTime(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A running clock: `0:07`, `12:30`, `1:02:03`. */
export function clockFace(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / MINUTE_S);
  if (minutes < 60) return `${minutes}:${two(seconds % MINUTE_S)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % MINUTE_S)}`;
}

/** A size in decimal units: `0 B`, `1.2 kB`, `35 MB`. */
export function sizeWords(bytes: number): string {
  let value = bytes;
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (value < 999.5)
      return `${unit === 'B' || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${unit}`;
    value /= 1000;
  }
  return `${value >= 9.95 ? Math.round(value) : value.toFixed(1)} TB`;
}

function twoUnits(seconds: number, largeS: number, large: string, smallS: number, small: string): string {
  const rest = Math.floor((seconds % largeS) / smallS);
  const first = `${Math.floor(seconds / largeS)} ${large}`;
  return rest === 0 ? first : `${first} ${rest} ${small}`;
}
