/** The processors for which these numbers are valid. */
export type Architecture = 'x64' | 'arm64';

/** The kernel's name of a system call's architecture, which detects calls with numbers of another architecture. */
export const AUDIT_ARCHITECTURE: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

/** Numbers by name, first of x64, then of arm64; null where the call does not exist. */
type Numbers = readonly [x64: number | null, arm64: number | null];

/** The number of a system call on this machine; undefined where it does not exist. */
export function numberOf(name: string, architecture: Architecture): number | undefined {
  const numbers = NUMBERS[name];
  if (numbers === undefined) throw new Error(`Internal: no number for ${name}`);
  return numbers[architecture === 'x64' ? 0 : 1] ?? undefined;
}

/**
 * System calls that no tool needs: tracing other processes, mounts and namespaces, kernel settings and modules, and
 * parts of the kernel with frequent vulnerabilities.
 */
export const REFUSED_CALLS: readonly string[] = [
  ...['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd'],
  ...['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'open_tree_attr', 'move_mount'],
  ...['fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'setns', 'unshare'],
  ...['swapon', 'swapoff', 'reboot', 'sethostname', 'setdomainname', 'iopl', 'ioperm', 'modify_ldt'],
  ...['init_module', 'delete_module', 'finit_module', 'kexec_load', 'kexec_file_load', 'quotactl'],
  ...['quotactl_fd', 'acct', 'settimeofday', 'adjtimex', 'clock_settime', 'clock_adjtime', 'syslog'],
  ...['add_key', 'request_key', 'keyctl', 'bpf', 'perf_event_open', 'userfaultfd'],
  ...['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'fanotify_init'],
  ...[
    'open_by_handle_at',
    'name_to_handle_at',
    'lookup_dcookie',
    'vhangup',
    'uselib',
    '_sysctl',
    'nfsservctl',
  ],
  ...['move_pages', 'migrate_pages', 'mbind', 'set_mempolicy', 'process_madvise', 'process_mrelease'],
];

/**
 * System calls for which a program has another way, so that they are answered as if the kernel did not have them. Their memory belongs to
 * no process, so no limit would count it, and segments of System V stay when the run has ended. The arguments of openat2 are in memory,
 * which a filter cannot read.
 */
export const MISSING_CALLS: readonly string[] = [
  ...['memfd_create', 'memfd_secret', 'openat2'],
  ...['shmget', 'shmat', 'shmctl', 'shmdt', 'semget', 'semop', 'semctl', 'semtimedop'],
  ...['msgget', 'msgsnd', 'msgrcv', 'msgctl'],
];

/** Without namespaces these name files that the tool may not read; a list of files that changes needs no content of them. */
export const MISSING_WHERE_SHARED: readonly string[] = ['inotify_init', 'inotify_init1', 'inotify_add_watch'];

/** An access list can give a file to another user. Programs expect file systems that have no attributes. */
export const UNSUPPORTED_CALLS: readonly string[] = [
  ...['setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat'],
  ...['removexattr', 'lremovexattr', 'fremovexattr', 'removexattrat'],
];

/** Without mounts of its own a tool reaches the attributes of every file by its path. */
export const UNSUPPORTED_WHERE_SHARED: readonly string[] = [
  ...['getxattr', 'lgetxattr', 'getxattrat', 'listxattr', 'llistxattr', 'listxattrat'],
];

/** System calls that take a process as their first argument, and 0 for the caller itself. */
export const CALLS_ON_PROCESSES: readonly string[] = [
  ...['prlimit64', 'sched_setaffinity', 'sched_setscheduler', 'sched_setparam', 'sched_setattr'],
];

/** System calls that even a privileged tool may not use: they change the machine for all users. */
export const ALWAYS_REFUSED_CALLS: readonly string[] = [
  ...['reboot', 'kexec_load', 'kexec_file_load', 'init_module', 'delete_module', 'finit_module', 'bpf'],
  ...['add_key', 'request_key', 'keyctl', 'open_by_handle_at', 'userfaultfd'],
];

const NUMBERS: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  setns: [308, 268],
  sendmsg: [46, 211],
  unshare: [272, 97],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  acct: [163, 89],
  settimeofday: [164, 170],
  adjtimex: [159, 171],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  syslog: [103, 116],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  lookup_dcookie: [212, 18],
  vhangup: [153, 58],
  uselib: [134, null],
  _sysctl: [156, null],
  nfsservctl: [180, 42],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  personality: [135, 92],
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  mknod: [133, null],
  mknodat: [259, 33],
  prctl: [157, 167],
  prlimit64: [302, 261],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  capset: [126, 91],
  dup3: [292, 24],
  close_range: [436, 436],
  execve: [59, 221],
  exit_group: [231, 94],
  getrusage: [98, 165],
  setsid: [112, 157],
  wait4: [61, 260],
  signalfd4: [289, 74],
  rt_sigprocmask: [14, 135],
  openat: [257, 56],
  close: [3, 57],
  seccomp: [317, 277],
  setpriority: [141, 140],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  ioprio_set: [251, 30],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  getxattr: [191, 8],
  lgetxattr: [192, 9],
  listxattr: [194, 11],
  llistxattr: [195, 12],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  setxattrat: [463, 463],
  getxattrat: [464, 464],
  listxattrat: [465, 465],
  removexattrat: [466, 466],
  shmget: [29, 194],
  shmctl: [31, 195],
  shmat: [30, 196],
  shmdt: [67, 197],
  semget: [64, 190],
  semctl: [66, 191],
  semtimedop: [220, 192],
  semop: [65, 193],
  msgget: [68, 186],
  msgctl: [71, 187],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  inotify_init: [253, null],
  inotify_init1: [294, 26],
  inotify_add_watch: [254, 27],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  open: [2, null],
  creat: [85, null],
  openat2: [437, 437],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
};
