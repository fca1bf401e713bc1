/** Stops a guard. */
export type StopGuard = () => void;

/** The longest delay of `setTimeout`; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Calls back after a delay of any length. */
export function after(ms: number, callback: () => void): StopGuard {
  let timer: NodeJS.Timeout;
  const wait = (left: number) => {
    timer = setTimeout(
      () => (left > MAX_DELAY_MS ? wait(left - MAX_DELAY_MS) : callback()),
      Math.min(left, MAX_DELAY_MS),
    );
  };
  wait(Math.max(0, ms));
  return () => clearTimeout(timer);
}
