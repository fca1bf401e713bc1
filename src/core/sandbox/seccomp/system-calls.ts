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
  ...['move_pages', 'migrate_pages', 'mbind', 'set_mempolicy'],
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
  getrusage: [98, 165],
  openat: [257, 56],
  close: [3, 57],
  seccomp: [317, 277],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
};
