import { dlopen, FFIType } from 'bun:ffi';
import { readFileSync } from 'node:fs';
import type { Companion, Exit, Runtime, SpawnedProcess, SpawnRequest } from './runtime.ts';

const PR_SET_CHILD_SUBREAPER = 36;
const F_SETPIPE_SZ = 1031;
const WNOHANG = 1;
const MFD_CLOEXEC = 1;

export const bunRuntime: Runtime = {
  async spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    const ownPeakBytes = peakBytes();
    const child = Bun.spawn({
      cmd: [...request.argv],
      cwd: request.cwd,
      env: { ...request.env },
      stdio: [request.stdin ?? 'ignore', request.stdout, request.stderr, ...(request.fds ?? [])],
      detached: true,
      ...channelOf(request),
    });
    return {
      pid: child.pid,
      exited: child.exited.then(() => exitOf(child, ownPeakBytes)),
      stdout: child.stdout instanceof ReadableStream ? child.stdout : null,
      stderr: child.stderr instanceof ReadableStream ? child.stderr : null,
      holdsProcess: (holds) => (holds ? child.ref() : child.unref()),
    };
  },

  startCompanion(argv, env, cwd): Companion {
    const child = Bun.spawn({
      cmd: [...argv],
      cwd,
      env: { ...env },
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
      detached: true,
    });
    child.unref();
    let willFlush = false;
    return {
      pid: child.pid,
      // Lines that are written at once wake it once.
      write(line) {
        ifItLives(() => child.stdin.write(`${line}\n`));
        if (willFlush) return;
        willFlush = true;
        queueMicrotask(() => {
          willFlush = false;
          ifItLives(() => child.stdin.flush());
        });
      },
      close() {
        ifItLives(() => child.stdin.end());
      },
    };
  },

  makeFifo(path) {
    if (libc === undefined) makeFifoByProgram(path);
    else if (libc.symbols.mkfifo(cString(path), 0o600) !== 0) throw new Error(`mkfifo failed: ${path}`);
  },

  memoryFile() {
    const fd = libc?.symbols.memfd_create(cString('acor'), MFD_CLOEXEC) ?? -1;
    return fd === -1 ? undefined : fd;
  },

  growPipe(fd, bytes) {
    libc?.symbols.fcntl(fd, F_SETPIPE_SZ, bytes);
  },

  adoptOrphans() {
    return process.platform === 'linux' && libc?.symbols.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
  },

  reap(pid) {
    libc?.symbols.waitpid(pid, null, WNOHANG);
  },

  collectGarbage() {
    Bun.gc(true);
  },
};

function channelOf({ hear }: SpawnRequest) {
  if (hear === undefined) return {};
  return {
    serialization: 'json' as const,
    ipc(message: unknown, child: Bun.Subprocess, socket?: unknown) {
      const answer = hear(message, socket);
      if (answer !== undefined) child.send(answer);
    },
  };
}

/**
 * The most memory that this program has had so far, which the kernel of Linux counts for what it starts. The peak of `getrusage` is another: it
 * has that of the program that started this one as well.
 */
function peakBytes(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const at = status.indexOf('VmHWM:');
    if (at !== -1) return Number.parseInt(status.slice(at + 'VmHWM:'.length), 10) * 1024;
  } catch {}
  return process.memoryUsage.rss();
}

function exitOf(child: Bun.Subprocess, ownPeakBytes: number): Exit {
  const usage = child.resourceUsage();
  const maxRssBytes = usage && Number(usage.maxRSS);
  const signal = child.signalCode ?? null;
  return {
    rc: signal === null ? child.exitCode : null,
    // A number is that of a real-time signal, which has no name.
    signal: typeof signal === 'number' ? `SIG${signal}` : signal,
    usage: {
      cpu_s: usage === undefined ? null : Number(usage.cpuTime.total) / 1e6,
      // Between fork and exec, a child counts this process's own pages at their peak: a figure below that says nothing
      // about the tool.
      max_rss_bytes: maxRssBytes !== undefined && maxRssBytes > ownPeakBytes * 1.1 ? maxRssBytes : null,
    },
  };
}

const libc = openLibc();

/** Each C library has its own file name. Without any of them, programs replace the calls. */
function openLibc() {
  for (const name of ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']) {
    try {
      return dlopen(name, {
        mkfifo: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
        memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
        fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
        prctl: {
          args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64],
          returns: FFIType.i32,
        },
        waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
      });
    } catch {
      // Try the next name.
    }
  }
  return undefined;
}

/** Loaded late: the module takes 0.8 ms to load. */
function makeFifoByProgram(path: string): void {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  execFileSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' });
}

function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`);
}

/** A killed companion reads no more input. */
function ifItLives(emit: () => void): void {
  try {
    emit();
  } catch {}
}
