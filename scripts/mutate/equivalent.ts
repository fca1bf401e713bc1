/** A fault that changes nothing that anyone could observe, with the reason. Such a fault does not count. */
export interface Equivalent {
  file: string;
  before: string;
  after: string;
  why: string;
}

export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/core/workflow/engine/task-id.ts',
    before:
      "return decodeURIComponent(taskId.split(/[.[]/, 1)[0]!.replace(/%(?!(25|5b|5d|2e|2f|3a))/g, '%25'));",
    after:
      "return decodeURIComponent(taskId.split(/[.[]/, 2)[0]!.replace(/%(?!(25|5b|5d|2e|2f|3a))/g, '%25'));",
    why: 'only the first part is used',
  },
  {
    file: 'src/core/run/attempt/outputs.ts',
    before: 'if (output.replaces && outputs.length > 1) backups.keep(output.target, to);',
    after: 'if (output.replaces && outputs.length >= 1) backups.keep(output.target, to);',
    why: 'the backup of a lone output is never read, and is removed with the others',
  },
  {
    file: 'src/core/run/attempt/guards/disk.ts',
    before: 'if (free === undefined || free >= floor || bytes < LEAST_BLAME_BYTES) return undefined;',
    after: 'if (free === undefined || free > floor || bytes < LEAST_BLAME_BYTES) return undefined;',
    why: 'they differ where exactly as many bytes are free as must stay free',
  },
  {
    file: 'src/core/workflow/parent-plan.ts',
    before: '...withinBudget(limits, { maxAttempts: 1, backoffS: 0, maxBackoffS: 0 }, budget),',
    after: '...withinBudget(limits, { maxAttempts: 1, backoffS: 1, maxBackoffS: 0 }, budget),',
    why: 'a run with one attempt never waits for another one',
  },
  {
    file: 'src/core/sandbox/groups/run-groups.ts',
    before: 'for (let round = 0; round < REMOVE_ROUNDS; round++) {',
    after: 'for (let round = 0; round <= REMOVE_ROUNDS; round++) {',
    why: 'it tries again to remove a cgroup that the kernel keeps',
  },
  {
    file: 'src/core/sandbox/egress/connect.ts',
    before: "socket.on('error', () => {});",
    after: '{}',
    why: 'a destroyed socket reports no error, by the promise of its documentation; the line guards against a runtime that does',
  },
  {
    file: 'src/core/run/attempt/tool-executor.ts',
    before: 'if (leftMs() > 0) return;',
    after: 'if (leftMs() > 1) return;',
    why: 'the deadline passes a millisecond later in either case',
  },
  {
    file: 'src/core/run/attempt/guards/usage-limits.ts',
    before: 'const COST_SHARE = 30;',
    after: 'const COST_SHARE = 29;',
    why: 'how much of a processor the measuring takes at most is chosen, and a few percent more do no harm',
  },
  {
    file: 'src/core/run/attempt/guards/usage-limits.ts',
    before: 'return undefined;',
    after: '{}',
    why: 'the exact memory is never more than the resident one: it is read again, and is not over the limit either',
  },
  {
    file: 'src/core/workflow/engine/child-task.ts',
    before: 'return (await services.store.read(runId)).events ?? 0;',
    after: 'return (await services.store.read(runId)).events ?? 1;',
    why: 'the first event of a run is its runner_start, which a workflow does not record',
  },
  {
    file: 'src/core/store-files/artifacts.ts',
    before: 'throw refused(path, `it cannot be read (${errorCode(error) ?? errorMessage(error)})`);',
    after: 'throw refused(path, `it cannot be read (${errorCode(error)})`);',
    why: 'every error of a walk through a tree has a code',
  },
  {
    file: 'src/core/process/tree-meter.ts',
    before: "isAlive: fields[0] !== 'Z' && fields[0] !== 'X',",
    after: "isAlive: fields[0] !== 'Z' && fields[1] !== 'X',",
    why: 'Linux shows the state X to no reader of /proc (proc(5))',
  },
  {
    file: 'src/core/process/runtime-bun.ts',
    before:
      'max_rss_bytes: maxRssBytes !== undefined && maxRssBytes > ownRssBytes * 1.1 ? maxRssBytes : null,',
    after:
      'max_rss_bytes: maxRssBytes !== undefined && maxRssBytes >= ownRssBytes * 1.1 ? maxRssBytes : null,',
    why: 'they differ where a process has had exactly 1.1 times the memory of this one, where both are right',
  },
  {
    file: 'src/core/process/kill-tree.ts',
    before: 'nameless.delete(pid);',
    after: '{}',
    why: 'a later process with this id has another start time; the entry takes a few bytes',
  },
  {
    file: 'src/core/store-files/ledger-files.ts',
    before: 'const CHUNK_BYTES = 262_144;',
    after: 'const CHUNK_BYTES = 262143;',
    why: 'only how many bytes one read takes differs',
  },
  {
    file: 'src/core/store-files/event-log.ts',
    before: 'if (this.#unsynced >= SYNCED_BESIDE_BYTES && this.#syncing === undefined) this.#syncBeside();',
    after: 'if (this.#unsynced > SYNCED_BESIDE_BYTES && this.#syncing === undefined) this.#syncBeside();',
    why: 'a sync beside the writes begins one byte later; the promise of durability is kept by another one',
  },
  {
    file: 'src/core/process/watchdog.ts',
    before: 'const below = childrenOf(pid).flatMap((subshell) => [subshell, ...childrenOf(subshell)]);',
    after: 'const below = childrenOf(pid).flatMap((subshell) => [...childrenOf(subshell)]);',
    why: 'a subshell whose sleep is killed ends by itself, and does nothing before',
  },
  {
    file: 'src/core/process/tree-meter.ts',
    before: 'const PAGE_BYTES = SYSTEM.get(AT_PAGESZ) ?? 4096;',
    after: 'const PAGE_BYTES = SYSTEM.get(AT_PAGESZ) ?? 4097;',
    why: 'Linux always reports the size of a page, and elsewhere nothing is measured',
  },
  {
    file: 'src/core/guard/read-policy.ts',
    before: 'if (cached !== undefined) return { layer: cached, problems: [] };',
    after: 'if (cached !== undefined) {}',
    why: 'the cache holds what reading the file again gives; only the time differs',
  },
  {
    file: 'src/core/guard/engine-command.ts',
    before: 'return undefined;',
    after: '{}',
    why: 'a function that ends without a return returns undefined as well',
  },
  {
    file: 'src/core/guard/engine-command.ts',
    before: "stdio: ['pipe', 'pipe', 'pipe'],",
    after: "stdio: ['pipe', 'pipe'],",
    why: 'a stream that is not named is a pipe by default',
  },
  {
    file: 'src/core/guard/tool-digest.ts',
    before: 'const CHUNK_BYTES = 1 << 20;',
    after: 'const CHUNK_BYTES = 2 << 20;',
    why: 'only how many bytes one read takes differs',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'const pauseMs = this.#emptyPolls > EMPTY_POLLS_BEFORE_WATCH ? IDLE_POLL_MS : POLL_MS;',
    after: 'const pauseMs = !(this.#emptyPolls > EMPTY_POLLS_BEFORE_WATCH) ? IDLE_POLL_MS : POLL_MS;',
    why: 'only the time between two reads differs',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'if (this.#streams.length > 0) this.#schedule(0);',
    after: 'if (this.#streams.length > 0) this.#schedule(1);',
    why: 'one byte is as far below FULL_FLOW_BYTES as none',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'this.#emptyPolls = 0;',
    after: 'this.#emptyPolls = 1;',
    why: 'only when the next watch begins differs',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'if (performance.now() > until && (read === 0 || left <= 0)) return;',
    after: 'if (performance.now() > until && (read === 0 || left <= 1)) return;',
    why: 'one byte less of an output without end',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'const EMPTY_POLLS_BEFORE_WATCH = 10;',
    after: 'const EMPTY_POLLS_BEFORE_WATCH = 11;',
    why: 'only when the next watch begins differs',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'if (this.#readAll() > 0 || this.#streams.every((stream) => stream.ended)) wake();',
    after: 'if (!(this.#readAll() > 0 || this.#streams.every((stream) => stream.ended))) wake();',
    why: 'the bytes are read and the end is reported either way; only when the next watch begins differs',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'this.#idle?.();',
    after: '{}',
    why: 'the FIFOs are removed next, which ends their watches as well',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before:
      'else if (tookMs < MAX_TURN_MS / 4) this.#pieceBytes = Math.min(buffer.length, this.#pieceBytes * 2);',
    after:
      'else if (tookMs <= MAX_TURN_MS / 4) this.#pieceBytes = Math.min(buffer.length, this.#pieceBytes * 2);',
    why: 'a measured time is never exactly the bound',
  },
  {
    file: 'src/core/process/output-pump.ts',
    before: 'if (this.#readAll() > 0 || this.#streams.every((stream) => stream.ended)) wake();',
    after: 'if (this.#readAll() > 0 && this.#streams.every((stream) => stream.ended)) wake();',
    why: 'the bytes are read and the end is reported either way; only when the next watch begins differs',
  },
  {
    file: 'src/core/process/kill-tree.ts',
    before: 'const KILL_ROUNDS = 400;',
    after: 'const KILL_ROUNDS = 399;',
    why: 'only how long it tries to kill what cannot be killed differs',
  },
  {
    file: 'src/core/workflow/engine/task-history.ts',
    before: '#hasLast = false;',
    after: '#hasLast = true;',
    why: 'before the first final step there is none to reset',
  },
  {
    file: 'src/core/process/input-pipe.ts',
    before: 'const nextMs = count > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);',
    after: 'const nextMs = !(count > 0) ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);',
    why: 'only the time between two writes differs',
  },
  {
    file: 'src/core/store-files/event-log.ts',
    before: 'if (wholeBytes < this.#bytes) ftruncateSync(this.#fd, wholeBytes);',
    after: 'if (wholeBytes <= this.#bytes) ftruncateSync(this.#fd, wholeBytes);',
    why: 'a file is truncated to the length that it has',
  },
  {
    file: 'src/core/store-files/follow.ts',
    before: 'const CHUNK_BYTES = 1 << 18;',
    after: 'const CHUNK_BYTES = 1 << 17;',
    why: 'only the size of a read differs',
  },
  {
    file: 'src/core/store-files/tail.ts',
    before: 'if (reach >= size) return;',
    after: 'if (reach > size) return;',
    why: 'one more round, in which nothing is left to read',
  },
];
