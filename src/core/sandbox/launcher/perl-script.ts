import { type Architecture, numberOf } from '../seccomp/system-calls.ts';

const CALLS = [
  ...[
    'prctl',
    'prlimit64',
    'setgroups',
    'setresuid',
    'setresgid',
    'capset',
    'dup3',
    'close_range',
    'execve',
    'getrusage',
    'mount',
  ],
  ...[
    'openat',
    'close',
    'setsid',
    'wait4',
    'signalfd4',
    'rt_sigprocmask',
    'seccomp',
    'landlock_create_ruleset',
    'landlock_add_rule',
    'landlock_restrict_self',
    'exit_group',
  ],
];

/**
 * The last steps before a tool, in the tool's own process, in this order: its streams, its file access (Landlock), its
 * user, its resource limits, its system calls (seccomp), and only three descriptors. Written in Perl, because every
 * base system has it and its `syscall` needs no module. The orders follow `__END__`; what a run adds to a sandbox that waits
 * for it comes later over a pipe. Any failure ends the process before the tool starts.
 *
 * As the first process of a PID namespace (`init`) it stays alive, adopts orphans, reports how the tool ended and its
 * usage, and kills the remaining processes. Where there is no such namespace it does the same as a parent outside of
 * the sandbox (`reaper`), which the tool cannot signal: every process of the tool stays below it, whatever it has done
 * to its group and its environment. It kills them at SIGUSR2, which it also gets when its own parent dies.
 *
 * `isBare`: only with limits. To compile the rest would take a third of its time.
 *
 * `stays`: as the first process of a PID namespace it compiles what it does there when the tool's process has been made, beside that.
 *
 * `reading`: the part that takes the orders, from behind `__END__` unless it is another one, which may then be of any kind. Of the parts for
 * secrets and for a reaper, a script has only those that its orders need: a sandbox waits for the compilation.
 */
export function perlScript(
  architecture: Architecture,
  {
    isBare = false,
    stays,
    secrets,
    reading = OWN,
  }: {
    isBare?: boolean;
    stays?: 'init' | 'reaper' | null;
    secrets?: string | undefined;
    reading?: string;
  } = {},
): string {
  const numbers = CALLS.map((name) => `${name} => ${numberOf(name, architecture)}`).join(', ');
  const isAny = reading !== OWN;
  const staying = stays === 'init' ? late(STAYS) : `${STAYS}sub stay { attend() }\n`;
  const parts = [
    ...[ORDERS, reading],
    ...(isBare ? [] : [CONFINES, staying]),
    ...(isAny || secrets !== undefined ? [SECRETS] : []),
    ...[RIGHTS, BEGIN],
    ...(isAny || stays === 'reaper' ? [REAPER] : []),
    END,
  ];
  return `my %call = (${numbers});\n${parts.join('')}`;
}

/** `stay` compiles the rest when it is called. */
function late(rest: string): string {
  return `\nmy $attending = <<'LATE';${rest}LATE\nsub stay { eval $attending; die $@ if $@; attend() }\n`;
}

const ORDERS = `
my (%one, @rule, @limit, @group, @env, @arg, $tool, $ended);
my $ruleset = -1;
sub take_orders {
  for (split /\\0/, $_[0]) {
    my ($key, $value) = split /=/, $_, 2;
    next unless defined $value;
    if ($key eq 'rule') { push @rule, $value }
    elsif ($key eq 'limit') { push @limit, $value }
    elsif ($key eq 'group') { push @group, $value }
    elsif ($key eq 'env') { push @env, $value }
    elsif ($key eq 'arg') { push @arg, $value }
    else { $one{$key} = $value }
  }
}
sub tell_status { syswrite STATUS, "$_[0]\\n" }
sub fail { tell_status("failed $_[0]: $!"); exit 125 }
sub call { my $name = shift; my $result = syscall($call{$name}, @_); fail($name) if $result < 0; $result }
`;

const OWN = `
{
  binmode DATA;
  local $/;
  take_orders(<DATA>);
}
`;

const CONFINES = `
# Files are opened for the rules while this process may still open them.
sub make_rules {
  my $abi = syscall($call{landlock_create_ruleset}, 0, 0, 1);
  fail('landlock') if $abi < 1;
  my $known = (1 << 13) - 1;
  $known |= 1 << 13 if $abi >= 2;
  $known |= 1 << 14 if $abi >= 3;
  $known |= 1 << 15 if $abi >= 5;
  my $handled = $one{handled} & $known;
  my $for_files = 1 | 2 | 4 | 1 << 14 | 1 << 15;
  my $net = $abi >= 4 ? 0 + $one{net} : 0;
  my $scope = $abi >= 6 ? 0 + $one{scope} : 0;
  my $attributes = pack('QQQ', $handled, $net, $scope);
  $ruleset = call('landlock_create_ruleset', $attributes, $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8, 0);
  my ($open, $add, $close) = @call{qw(openat landlock_add_rule close)};
  # A stream that is a named pipe may be opened by its name; for any other kind there is no such rule.
  for (@rule, map { "stream:6:/proc/self/fd/$_" } 0, 1, 2) {
    my ($kind, $access, $path) = split /:/, $_, 3;
    my $is_exact = $kind eq 'exact';
    my $fd = syscall($open, -100, $path, 010000000 | 02000000 | ($is_exact ? 0 + $one{nofollow} : 0), 0);
    next if $fd < 0;
    $access &= $handled;
    # To ask what it is takes as long as the rule.
    $access &= $for_files if $access & ~$for_files && !-d "/proc/self/fd/$fd";
    my $rule = pack('QlL', $access, $fd, 0);
    my $is_there = !$is_exact || (readlink("/proc/self/fd/$fd") eq $path && !-l $path);
    my $is_made = $is_there && ($access == 0 || syscall($add, $ruleset, 1, $rule, 0) == 0);
    unless ($is_made || $kind eq 'stream') {
      fail("the rule for $path") unless $is_exact;
      tell_status("changed $path");
      exit 125;
    }
    syscall($close, $fd);
  }
}

# Starts the tool's process with all its limits. It reads the rest over a socket: as the tool's interpreter, from descriptor 3, or before it
# becomes the tool. Returns what sends that.
sub start_early {
  # Nothing of this process, which has not given up its own rights yet, may be read or used by the tool.
  call('prctl', 4, 0, 0, 0, 0);
  socketpair(OURS, THEIRS, 1, 1, 0) or fail('socketpair');
  make_rules() if $one{handled};
  # A run that took a sandbox whose tool has died would fail.
  $SIG{CHLD} = sub { exit 0 };
  $tool = fork;
  fail('fork') unless defined $tool;
  if ($tool == 0) {
    give_up_rights();
    restrict();
    if ($one{warm}) {
      call('dup3', fileno THEIRS, 3, 0);
      become_tool(3);
    }
    close OURS;
    my $orders = '';
    1 while sysread(THEIRS, $orders, 65536, length $orders);
    # Its supervisor has died.
    exit 0 if $orders eq '';
    take_orders($orders);
    chdir $one{cwd} or fail("chdir $one{cwd}");
    become_tool();
  }
  close THEIRS;
  $SIG{PIPE} = 'IGNORE';
  # A runtime that is a script has changed some of these.
  my %has = map { $_ => 1 } @env;
  return sub {
    my @more = map { "env=$_" } grep { !$has{$_} } @env;
    my $text = join("\\0", "cwd=$one{cwd}", @more, map { "arg=$_" } @arg);
    for (my $sent = 0; $sent < length $text; ) {
      my $count = syswrite(OURS, $text, length($text) - $sent, $sent) or last;
      $sent += $count;
    }
    close OURS;
  };
}
`;

const SECRETS = `
# Bubblewrap makes files for root alone: those of the secrets are given to the tool's user, and then nothing of them is changed any more.
sub give_secrets {
  my ($folder, $none) = ($one{secrets}, 'none');
  opendir(FOLDER, $folder) or fail($folder);
  my @files = map { "$folder/$_" } grep { !/^\\.\\.?$/ } readdir FOLDER;
  closedir FOLDER;
  for (@files, $folder) { chown(0 + $one{uid}, 0 + $one{gid}, $_) or fail("chown $_") }
  call('mount', $none, $folder, $none, 4096 | 32 | 4 | 2 | 1, 0);
}
`;

const RIGHTS = `
# The rights of this process become those of the tool.
sub give_up_rights {
  give_secrets() if $one{secrets};
  if (defined $one{uid}) {
    call('setgroups', 0, 0);
    for (my $capability = 0; syscall($call{prctl}, 24, $capability, 0, 0, 0) == 0; $capability++) { }
    call('setresgid', (0 + $one{gid}) x 3);
    call('setresuid', (0 + $one{uid}) x 3);
    my $header = pack('LL', 0x20080522, 0);
    my $none = "\\0" x 24;
    call('capset', $header, $none);
  }

  $SIG{USR2} = \\&end_all if $one{reaper};
  # A change of user undoes it. Without a parent no process would ever end this one.
  call('prctl', 1, $one{reaper} ? 12 : 9, 0, 0, 0);
  call('prctl', 38, 1, 0, 0, 0) unless $one{bare};
  if (defined $one{cwd}) { chdir $one{cwd} or fail("chdir $one{cwd}") }
  for (@limit) {
    my ($resource, $most) = split /,/;
    my $value = pack('QQ', 0, 0);
    # Only ever lower: to raise one is not for an ordinary user, and without need.
    call('prlimit64', 0, 0 + $resource, 0, $value);
    my $hard = (unpack 'QQ', $value)[1];
    # The kernel asks first at the lower one of the two, and kills at the higher.
    my $asks = $resource == 0 ? 1 : 0;
    $most = $hard if $most > $hard;
    $value = pack('QQ', $most > $asks ? $most - $asks : $most, $most);
    call('prlimit64', 0, 0 + $resource, $value, 0);
  }
}

sub restrict {
  call('landlock_restrict_self', $ruleset, 0) if $ruleset >= 0;
  if ($one{filter}) {
    my $filter = pack('H*', $one{filter});
    my $program = pack('Sx6P', length($filter) / 8, $filter);
    call('seccomp', 1, 0, $program);
  }
}

sub become_tool {
  my $kept = shift // 2;
  # Perl ignores it, and a tool would.
  $SIG{FPE} = 'DEFAULT';
  my $path = $arg[0];
  my $arguments = pack('p*', @arg, undef);
  my $environment = pack('p*', @env, undef);
  call('close_range', $kept + 1, 4294967295, 4);
  syscall($call{execve}, $path, $arguments, $environment);
  tell_status('cannot-start ' . ($! + 0));
  exit 127;
}
`;

const BEGIN = `
my $parent = getppid();
my $status = 0 + $one{status};
# The streams of the tool take the places of the launcher's own.
my @stream = split /,/, $one{streams};
open(STATUS, '>>&', $status) or exit 125;
if ($stream[0] eq 'null') {
  open(NULL, '<', '/dev/null') or fail('/dev/null');
  $stream[0] = fileno NULL;
}
for my $to (0, 1, 2) { call('dup3', 0 + $stream[$to], $to, 0) if $stream[$to] != $to }

# A sandbox that waits for its run. Without a supervisor there will be none.
if (defined $one{pipe}) {
  tell_status('ready');
  my $sends = $one{init} ? start_early() : undef;
  make_rules() if $one{handled} && !$sends;
  open(ORDERS, '<&=', 0 + $one{pipe}) or exit 125;
  my $orders = '';
  until ($orders =~ /\\0end=\\z/) { sysread(ORDERS, $orders, 65536, length $orders) or exit 0 }
  close ORDERS;
  tell_status('taken');
  $SIG{CHLD} = 'DEFAULT';
  (@env, @arg) = ();
  take_orders($orders);
  # The folders of a sandbox that waited for any run are mounted below a name that stood for it.
  if (defined $one{slot}) {
    my ($above, $run) = $one{run} =~ m{^(.*)/([^/]+)\\z}s;
    chmod(0755, $above) && rename("$above/$one{slot}", "$above/$run") && chmod(0555, $above) or fail("rename $one{slot}");
  }
  $sends->() if $sends;
}

# The groups of processes, while this process is still who may join them. The process that opened them may have lost that right since.
for (@group) {
  open(GROUP, m{^/} ? '>' : '>&=', $_) or fail('group');
  syswrite(GROUP, '0') or tell_status("outside $!");
  close GROUP;
}

make_rules() if $one{handled} && !defined $one{pipe};
give_up_rights();
# It may have died before that.
exit 125 if getppid() != $parent;
`;

const REAPER = `
if ($one{reaper}) {
  # Nothing of this process may be read or used by the tool.
  call('prctl', 4, 0, 0, 0, 0);
  call('prctl', 36, 1, 0, 0, 0);
  $parent = $$;
  $SIG{$_} = 'IGNORE' for qw(TERM INT HUP QUIT);
  $tool = fork;
  fail('fork') unless defined $tool;
  stay() if $tool;
  $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP QUIT USR2);
  setpgrp(0, 0);
  call('prctl', 1, 9, 0, 0, 0);
  exit 125 if getppid() != $parent;
}
`;

const END = `
restrict();
unless ($one{init}) {
  tell_status('up');
  become_tool();
}

# Nothing of this process may be read or used by the tool.
call('prctl', 4, 0, 0, 0, 0);
$SIG{TERM} = sub { kill 'TERM', -1 } if $one{handson};
unless (defined $tool) {
  $tool = fork;
  fail('fork') unless defined $tool;
  if ($tool == 0) { $SIG{TERM} = 'DEFAULT'; become_tool() }
}
tell_status('up');
stay();
`;

const STAYS = `
# Waits for the tool, then ends what it has left. Does not return.
sub attend {
  open(STDIN, '<', '/dev/null');
  open(STDOUT, '>', '/dev/null');
  open(STDERR, '>', '/dev/null');
  my $keep = fileno STATUS;
  syscall($call{close_range}, 3, $keep - 1, 0) if $keep > 3;
  syscall($call{close_range}, $keep + 1, 4294967295, 0);
  until (defined $ended) { took(waitpid(-1, 0)) or last }
  unless (dies_out(12)) {
    my $left = others();
    tell_status('left ' . ($left || 1));
    ask_all();
    dies_out(200);
  }
  end_all() if $one{reaper};
  # Perl would first ask the kernel about each signal and free each value.
  syscall($call{exit_group}, 0);
}

# Notes how the tool ended, when it is the process that was waited for.
sub took {
  my $pid = shift;
  return $pid > 0 if $pid != $tool || defined $ended;
  $ended = $?;
  my $usage = "\\0" x 144;
  call('getrusage', -1, $usage);
  my ($cpu, $rss) = used($usage);
  tell_status("ended $ended $cpu $rss");
  return 1;
}

# Of the kernel's record of what processes have used: their processor time in microseconds, and their peak memory in KiB.
sub used {
  my @usage = unpack('q5', shift);
  return (($usage[0] + $usage[2]) * 1000000 + $usage[1] + $usage[3], $usage[4]);
}

# Whatever lives in here has this process for an ancestor: without a child, nothing is left.
sub dies_out {
  for (1 .. $_[0]) {
    my $pid;
    do { $pid = waitpid(-1, 1); took($pid) } while ($pid > 0);
    return 1 if $pid < 0;
    select(undef, undef, undef, 0.005);
  }
  return 0;
}

# In a PID namespace all processes but this one, else those below it.
sub others {
  my (%parent, @found);
  opendir(my $folder, '/proc') or return;
  my @pids = grep { /^\\d+$/ && $_ != $$ } readdir $folder;
  return @pids unless $one{reaper};
  for my $pid (@pids) {
    open(my $stat, '<', "/proc/$pid/stat") or next;
    my ($parent) = (<$stat> // '') =~ /\\) \\S (\\d+) [^)]*$/s;
    push @{$parent{$parent}}, $pid if defined $parent;
  }
  my @next = ($$);
  while (defined(my $pid = shift @next)) {
    push @found, @{$parent{$pid} // []};
    push @next, @{$parent{$pid} // []};
  }
  return @found;
}

sub ask_all { kill 'TERM', $one{reaper} ? others() : -1 }

# Kills what is below this process, again and again, because a process may have started another one meanwhile.
sub end_all {
  for (1 .. 2000) {
    kill 'KILL', others();
    exit 0 if dies_out(1);
  }
  exit 0;
}
`;
