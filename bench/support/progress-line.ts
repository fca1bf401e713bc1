const LINE_BYTES = 120;

/** A progress message of 120 bytes, its newline included, as tools send them by the thousand. */
export function progressLine(runId: string, index: number): string {
  const head = `{"v":1,"type":"progress","ts":"2025-08-30T12:34:56Z","run_id":"${runId}","step":"copy","pct":${index % 100},"msg":"`;
  return `${head}${'x'.repeat(LINE_BYTES - head.length - 3)}"}\n`;
}
