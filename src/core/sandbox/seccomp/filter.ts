import { Assembler } from './assembler.ts';
import {
  ALWAYS_REFUSED_CALLS,
  type Architecture,
  AUDIT_ARCHITECTURE,
  CALLS_ON_PROCESSES,
  MISSING_CALLS,
  MISSING_WHERE_SHARED,
  numberOf,
  REFUSED_CALLS,
  UNSUPPORTED_CALLS,
  UNSUPPORTED_WHERE_SHARED,
} from './system-calls.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const REFUSE = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;

/**
 * The offsets of the system call and its arguments (`struct seccomp_data`); the low half of an argument comes first.
 */
const CALL_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

const X32_BIT = 0x40000000;
/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME. */
const NEW_NAMESPACE_FLAGS = 0x7e020080;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
/** These inject input into the user's terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const SET_ID_BITS = 0o6000;
/** O_CREAT and O_TMPFILE: without them the kernel ignores the mode. */
const CREATE_FLAGS = 0o20000100;
const PRIO_USER = 2;
const IOPRIO_WHO_PROCESS = 1;
const FILE_TYPE_MASK = 0o170000;
const CHARACTER_DEVICE = 0o020000;
const BLOCK_DEVICE = 0o060000;
const PERSONALITY_NATIVE = 0;
const PERSONALITY_QUERY = 0xffffffff;

/** What the seccomp filter allows. */
export interface SeccompRules {
  architecture: Architecture;
  /** Whether internet sockets are allowed; another layer restricts their destinations. */
  internet: boolean;
  /** Whether no namespaces separate the tool from the other processes and files of the machine. */
  isShared: boolean;
  /** `full` for every tool; `small` for an approved privileged tool. */
  kind: 'full' | 'small';
}

/**
 * The seccomp filter as bytes for the kernel. Arguments are compared by their low 32 bits, as the kernel reads them.
 */
export function seccompFilter(rules: SeccompRules): Buffer {
  const program = new Assembler();
  program.load(ARCHITECTURE_OFFSET);
  program.ifEqual(AUDIT_ARCHITECTURE[rules.architecture], null, 'kill');
  program.load(CALL_OFFSET);
  if (rules.architecture === 'x64') program.ifAtLeast(X32_BIT, 'kill');
  refuseCalls(program, rules, rules.kind === 'small' ? ALWAYS_REFUSED_CALLS : REFUSED_CALLS);
  refuseTerminalWords(program, rules);
  if (rules.kind === 'full') {
    refuseNamespaces(program, rules);
    refuseSockets(program, rules);
    refusePersonalities(program, rules);
    refuseSetIdBits(program, rules);
    refuseDevices(program, rules);
    refuseCalls(program, rules, MISSING_CALLS, 'missing');
    refuseCalls(program, rules, UNSUPPORTED_CALLS, 'unsupported');
    if (rules.isShared) {
      refuseCalls(program, rules, MISSING_WHERE_SHARED, 'missing');
      refuseCalls(program, rules, UNSUPPORTED_WHERE_SHARED, 'unsupported');
      refuseOtherProcesses(program, rules);
    }
  }
  program.label('allow');
  program.return(ALLOW);
  program.label('refuse');
  program.return(REFUSE | EPERM);
  program.label('missing');
  program.return(REFUSE | ENOSYS);
  program.label('unsupported');
  program.return(REFUSE | EOPNOTSUPP);
  program.label('kill');
  program.return(KILL);
  return program.bytes();
}

function refuseCalls(
  program: Assembler,
  { architecture }: SeccompRules,
  names: readonly string[],
  answer: 'refuse' | 'missing' | 'unsupported' = 'refuse',
): void {
  for (const name of names) {
    const number = numberOf(name, architecture);
    if (number !== undefined) program.ifEqual(number, answer);
  }
}

/** Limits, priorities and scheduling of other processes; the caller itself is 0. */
function refuseOtherProcesses(program: Assembler, rules: SeccompRules): void {
  for (const name of CALLS_ON_PROCESSES) {
    onCall(program, rules, name, () => {
      program.load(argumentOffset(0));
      program.ifEqual(0, null, 'refuse');
    });
  }
  onCall(program, rules, 'setpriority', () => {
    program.load(argumentOffset(0));
    program.ifEqual(PRIO_USER, 'refuse');
    program.load(argumentOffset(1));
    program.ifEqual(0, null, 'refuse');
  });
  onCall(program, rules, 'ioprio_set', () => {
    program.load(argumentOffset(0));
    program.ifEqual(IOPRIO_WHO_PROCESS, null, 'refuse');
    program.load(argumentOffset(1));
    program.ifEqual(0, null, 'refuse');
  });
}

/** `check` inspects arguments of the call and jumps; without a jump the call is allowed. */
function onCall(program: Assembler, rules: SeccompRules, name: string, check: () => void): void {
  const number = numberOf(name, rules.architecture);
  if (number === undefined) return;
  const other = program.newLabel();
  program.ifEqual(number, null, other);
  check();
  program.jump('allow');
  program.label(other);
}

function refuseTerminalWords(program: Assembler, rules: SeccompRules): void {
  onCall(program, rules, 'ioctl', () => {
    program.load(argumentOffset(1));
    program.ifEqual(TIOCSTI, 'refuse');
    program.ifEqual(TIOCLINUX, 'refuse');
  });
}

function refuseNamespaces(program: Assembler, rules: SeccompRules): void {
  onCall(program, rules, 'clone', () => {
    program.load(argumentOffset(0));
    program.ifAnyBit(NEW_NAMESPACE_FLAGS, 'refuse');
  });
  // Its flags are in memory, which a filter cannot read. C libraries fall back to clone.
  program.ifEqual(numberOf('clone3', rules.architecture)!, 'missing');
}

function refuseSockets(program: Assembler, rules: SeccompRules): void {
  onCall(program, rules, 'socket', () => {
    program.load(argumentOffset(0));
    if (rules.internet) for (const family of [AF_INET, AF_INET6]) program.ifEqual(family, 'allow');
    program.ifEqual(AF_NETLINK, null, 'refuse');
    program.load(argumentOffset(2));
    program.ifEqual(NETLINK_ROUTE, null, 'refuse');
  });
  onCall(program, rules, 'socketpair', () => {
    program.load(argumentOffset(0));
    program.ifEqual(AF_UNIX, null, 'refuse');
  });
}

function refusePersonalities(program: Assembler, rules: SeccompRules): void {
  onCall(program, rules, 'personality', () => {
    program.load(argumentOffset(0));
    program.ifEqual(PERSONALITY_NATIVE, 'allow');
    program.ifEqual(PERSONALITY_QUERY, null, 'refuse');
  });
}

function refuseSetIdBits(program: Assembler, rules: SeccompRules): void {
  for (const [name, mode] of [
    ['chmod', 1],
    ['fchmod', 1],
    ['fchmodat', 2],
    ['fchmodat2', 2],
  ] as const) {
    onCall(program, rules, name, () => {
      program.load(argumentOffset(mode));
      program.ifAnyBit(SET_ID_BITS, 'refuse');
    });
  }
  for (const [name, flags, mode] of [
    ['open', 1, 2],
    ['openat', 2, 3],
  ] as const) {
    onCall(program, rules, name, () => {
      program.load(argumentOffset(flags));
      program.ifAnyBit(CREATE_FLAGS, null, 'allow');
      program.load(argumentOffset(mode));
      program.ifAnyBit(SET_ID_BITS, 'refuse');
    });
  }
  onCall(program, rules, 'creat', () => {
    program.load(argumentOffset(1));
    program.ifAnyBit(SET_ID_BITS, 'refuse');
  });
}

function refuseDevices(program: Assembler, rules: SeccompRules): void {
  for (const [name, mode] of [
    ['mknod', 1],
    ['mknodat', 2],
  ] as const) {
    onCall(program, rules, name, () => {
      program.load(argumentOffset(mode));
      program.ifAnyBit(SET_ID_BITS, 'refuse');
      program.and(FILE_TYPE_MASK);
      program.ifEqual(CHARACTER_DEVICE, 'refuse');
      program.ifEqual(BLOCK_DEVICE, 'refuse');
    });
  }
}
