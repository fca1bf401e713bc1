import type { Attack, Family } from './attack.ts';

const sandbox = (number: number, title: string, must: string, more: Partial<Attack> = {}): Attack => ({
  number,
  title,
  must,
  at: 'sandbox',
  ...more,
});
const runner = (number: number, title: string, must: string, more: Partial<Attack> = {}): Attack => ({
  number,
  title,
  must,
  at: 'runner',
  ...more,
});

const GRANTED =
  'a tool that may write a folder may change everything in it; the runner reports changes of such names at the end of the run';
const TWIN =
  'a check refuses it; instead of a control, the suite shows that valid input passes the same check';
const EVERYBODY =
  'an ordinary user may not do it without a sandbox either, so only the run as root is a control';

/** All attacks, as the run of the suite tries them and docs/sandbox.md lists them. */
export const ATTACKS: Readonly<Record<Family, readonly Attack[]>> = {
  Files: [
    sandbox(1, 'Read a secret that is not granted', 'no such file', {
      open: { landlock: 'a tool can find out whether a path exists, but not read it' },
    }),
    sandbox(2, 'Read the events, the workspace or the secrets of another run', 'no such file'),
    sandbox(3, 'Leave the workspace by ..', 'its own event log, other runs and the project are not there'),
    sandbox(4, 'Write to /usr, /usr/local/bin, /etc or /', 'refused', { noControlAsUser: EVERYBODY }),
    sandbox(5, 'Create or change files anywhere else', 'nothing on the machine has changed', {
      open: {
        landlock:
          'a tool can change mode bits and times of files of its own user (not their content, which Landlock protects); when root runs ACOR, each tool is a user of its own',
      },
    }),
    sandbox(6, 'Read a secret through a symbolic link', 'the target of the link is missing'),
    sandbox(7, 'Write through a symbolic link that leads out', 'nothing outside has changed'),
    sandbox(8, 'Make a hard link to an outside file', 'refused'),
    sandbox(9, 'Reach the machine by /proc/PID/root and /proc/PID/cwd', 'refused'),
    sandbox(10, 'Look for what a launcher has left mounted', 'nothing is there', {
      noControl: 'only a faulty launcher leaves such a folder',
    }),
    sandbox(11, 'mount, umount, chroot, pivot_root and the new calls for mounts', 'refused by the filter'),
    sandbox(12, 'Plant a link where the next launch would mount something', 'nothing is made behind it'),
    sandbox(13, 'Replace a grant by a link between check and launch', 'refused'),
    runner(14, 'A manifest that names /, /proc, .., control characters or ACOR’s own folders', 'refused', {
      noControl: TWIN,
    }),
    sandbox(
      15,
      'Change hooks, start-up files and settings in a granted folder',
      'reported at the end of the run',
      {
        open: { bubblewrap: GRANTED, landlock: GRANTED, container: GRANTED, seatbelt: GRANTED },
      },
    ),
    sandbox(16, 'Change its own folder, manifest, policy, configuration, caches or sandbox', 'refused'),
    runner(17, 'A result that names a link, a pipe, a device, a hard link or a path outside', 'refused', {
      noControl: TWIN,
    }),
    runner(18, 'Swap an artifact for a link while it is hashed', 'never a byte from outside'),
    runner(19, 'Artifacts of 100 GB of holes, of 10,001 files, of hostile names', 'refused, and escaped', {
      noControl: 'reading such a file to its end would take minutes',
    }),
    sandbox(20, 'Set-user-id bits, device nodes, file capabilities', 'refused'),
  ],
  Processes: [
    sandbox(21, 'A daemon that outlives its tool', 'ended with the tool'),
    sandbox(22, 'Ignore every signal that asks', 'killed after the grace'),
    sandbox(23, 'A fork bomb', 'E_PROCESS_LIMIT, and the runner goes on'),
    sandbox(24, 'Hundreds of zombies', 'they are gone when the run ends', {
      noControl: 'zombies disappear with their parent without a sandbox, too',
    }),
    runner(25, 'A child that holds the output open', 'the run ends with the tool'),
    sandbox(26, 'kill -9 -1, and the supervisor by its number', 'only its own processes'),
    sandbox(27, 'ptrace, process_vm_readv and /proc/PID/mem of other processes', 'refused'),
    sandbox(28, 'Outlive a supervisor that is killed', 'everything is killed'),
    sandbox(29, 'Fake another exit status', 'code and signal are reported as they were', {
      noControl: 'only the launcher in between could report a wrong one',
    }),
    runner(30, 'Close, or never read, the streams of the runner', 'the run comes to its end', {
      noControl: 'the attack succeeds when something fails, so a control would show nothing',
    }),
    runner(31, 'Have another process get the pid of a tool that has ended', 'it is not signalled'),
  ],
  Information: [
    sandbox(32, 'Read the environment of other processes', 'refused'),
    sandbox(33, 'Find the runner’s secrets in its own environment or that of the first process', 'not there'),
    sandbox(34, 'List the processes of the machine', 'only its own', {
      open: {
        landlock: 'a tool can read the ids and command lines of other processes, and nothing else of them',
      },
    }),
    sandbox(35, 'Use descriptors that the runner has inherited', 'only 0, 1 and 2'),
    sandbox(36, 'Read /sys, cgroups, /proc/kcore, the kernel’s log and addresses', 'not there, or masked'),
    runner(
      37,
      'Print secrets in every form, in pieces, in fields and names',
      'redacted everywhere, no copy is left',
    ),
    sandbox(38, 'Write, delete or change the mode of a secret file', 'refused', {
      open: {
        landlock:
          'a tool can change its mode bits; the file is in the run’s own folder and is removed with the run',
      },
    }),
    sandbox(39, 'Leave a core dump', 'none, and the limit cannot be raised', {
      noControl: 'the runner sets this limit without a sandbox, too',
    }),
    sandbox(40, 'Type into the terminal, or have it obey what is printed', 'refused, and escaped'),
  ],
  'Privileges and the kernel': [
    sandbox(41, 'Change core_pattern, modprobe or the caches of the kernel, run by root', 'refused', {
      noControlAsUser: EVERYBODY,
    }),
    sandbox(42, 'Be root, be in its group, or have a capability, run by root', 'none', {
      noControlAsUser: EVERYBODY,
    }),
    sandbox(43, 'Make or enter a namespace', 'refused'),
    sandbox(44, 'Gain rights by a set-user-id program', 'no new privileges'),
    sandbox(45, 'io_uring, bpf, keyrings, perf, userfaultfd, modules, kexec', 'refused by the filter'),
    sandbox(46, 'System calls by the numbers of another architecture', 'killed'),
    sandbox(47, 'Overwrite the launcher by /proc/self/exe', 'refused', { noControlAsUser: EVERYBODY }),
  ],
  Network: [
    sandbox(48, 'Connect to a service of the machine', 'refused'),
    sandbox(49, 'Connect to any address, to the metadata of a cloud, by IPv6', 'no way there'),
    sandbox(50, 'Another port of an allowed host, another host at its port', 'refused'),
    sandbox(51, 'Unix sockets, by path, in a granted folder, abstract', 'refused by the filter'),
    sandbox(52, 'vsock, packet, raw, AF_ALG and netlink sockets', 'refused by the filter'),
    sandbox(53, 'Carry something out in datagrams and names that are looked up', 'nothing leaves'),
    sandbox(54, 'An allowed name that leads to the machine itself', 'refused; what was checked is dialled'),
    sandbox(55, 'Requests to the proxy that two programs read in two ways', 'refused'),
    sandbox(56, 'Bypass the proxy', 'still nothing'),
    sandbox(57, 'Change the network, or take the place of what listens there', 'refused'),
    sandbox(58, 'Hundreds of connections at once', '256, and no more'),
    sandbox(59, 'Use the hosts of a concurrent run', 'refused'),
  ],
  Resources: [
    sandbox(60, 'Memory: in one process, in many, mapped and shared', 'E_MEMORY_LIMIT'),
    sandbox(61, 'Fill the folder for temporary files', 'full at its size, or E_DISK_LIMIT'),
    sandbox(62, 'One huge file, and many', 'E_FILE_SIZE_LIMIT, E_DISK_LIMIT'),
    sandbox(63, 'Compute without end, in one process and in a chain', 'E_CPU_LIMIT'),
    runner(
      64,
      'Floods, endless lines, garbage, JSON 100,000 levels deep, __proto__',
      'kept or cut, no crash',
      {
        noControl: 'the attack succeeds when something fails, so a control would show nothing',
      },
    ),
    sandbox(
      65,
      'Open files without end; be silent or go on for ever',
      'E_OPEN_FILES_LIMIT, E_HEARTBEAT_MISSED, E_DEADLINE',
    ),
  ],
  'Input of the runner': [
    runner(66, 'Names of tools that are paths, options or look-alikes', 'refused', { noControl: TWIN }),
    runner(67, 'Arguments with the signs of a shell, newlines, leading dashes', 'passed as they are'),
    runner(68, 'A manifest that asks for LD_PRELOAD and its like', 'refused', { noControl: TWIN }),
    runner(69, 'YAML bombs, aliases, tags, twins, links, too large files', 'refused', { noControl: TWIN }),
    runner(70, 'Events that only the runner writes', 'kept as the tool’s own words', {
      noControl: 'no reader takes events from anywhere but the runner’s log',
    }),
    runner(71, 'Questions that are meant to steer their reader', 'data with its origin, and no more', {
      noControl: 'no reader takes events from anywhere but the runner’s log',
    }),
    runner(72, 'bwrap, perl and others planted first on the PATH', 'never started'),
    runner(73, 'More than the policy allows, in every dimension', 'refused at once, with every violation', {
      noControl: TWIN,
    }),
    sandbox(74, 'Make a layer of the sandbox fail', 'nothing is started'),
  ],
  'Around the run': [
    sandbox(75, 'Change limits, priorities and scheduling of other processes', 'refused, or not there'),
    sandbox(
      76,
      'Change or read attributes and access lists of files of its own user',
      'refused, or not there',
    ),
    sandbox(77, 'Watch the names of files in a folder that it may not read', 'refused, or not there'),
    sandbox(78, 'Memory that no process maps, and segments that outlive the run', 'refused by the filter'),
    runner(
      79,
      'Replace a folder above an output, or the staging folder, by a link',
      'nothing is written there',
      {
        noControl: TWIN,
      },
    ),
    runner(80, 'Nest folders deeper than a path can be long', 'every later command works', {
      noControl: 'the attack succeeds when something fails, so a control would show nothing',
    }),
  ],
  'Injection, rules, questions and layers': [
    runner(81, 'Read the key of the run’s authority, or the value behind a placeholder', 'nowhere'),
    runner(82, 'Reach another host through TLS that ends in ACOR', 'refused'),
    runner(83, 'Have an injected secret echoed: whole, in parts, compressed', 'overwritten'),
    runner(84, 'Pass rules by parallel connections, retries and overlapping rules', 'counted together'),
    runner(85, 'Other spellings of a host with rules', 'the same rules, or refused'),
    runner(86, 'Forge or answer a question of the runner', 'it stays open'),
    runner(87, 'Leave a layer by links, pipes and odd names', 'refused, or put in place as they are'),
    runner(88, 'Swap a folder while changes are applied or undone', 'nothing is written elsewhere'),
    runner(89, 'Changes of a run whose supervisor was killed', 'they can be undone'),
    runner(
      90,
      'Reach a host with rules as another name of its server, where a wildcard allows more',
      'refused',
    ),
    runner(
      91,
      'Change what other programs execute later, in a layer',
      'named where they are shown and applied',
    ),
    runner(92, 'Forge the list of a run’s changes, its record or its log', 'refused, or shown as unverified'),
    runner(93, 'Answer for the person whom a call asks before its start', 'the tool is not started'),
    runner(
      94,
      'Read around a program that the manifest of a cloned project names',
      'only the program is there',
    ),
    runner(95, 'Blind or mislead the observer of a tool that is learned', 'the draft has what it did'),
    runner(
      96,
      'Have a weaker sandbox take a run with injected secrets, hosts, rules or layers',
      'refused; nothing is given to the tool',
    ),
  ],
};

/** Every attack, in the order of its number. */
export const ALL_ATTACKS: readonly Attack[] = Object.values(ATTACKS).flat();
