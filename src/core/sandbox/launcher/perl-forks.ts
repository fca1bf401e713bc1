import type { Architecture } from '../seccomp/system-calls.ts';
import { perlScript } from './perl-script.ts';

/**
 * The same launcher for many tools, one after the other: it forks for each, so that Perl starts and compiles once (`ForkServer`). It reads
 * its requests from descriptor 3, a line each: an id, the pid of its supervisor, and descriptors there, which become 0, 1, 2, 3 … of the
 * fork. The first of them has the orders, behind `__END__`. Its reports go to the channel of its supervisor (`HearChild`):
 *
 * - `started ID PID`: the fork has its descriptors and leads its own session
 * - `failed ID ERRNO`: there is no fork
 * - `ended ID STATUS CPU RSS`: as `wait4` reports it, in microseconds and KiB; RSS is 0 when it is that of the fork itself
 *
 * It ends with its requests, or with its supervisor, and its forks with it.
 */
export function forkServerScript(architecture: Architecture): string {
  return perlScript(architecture, { reading: FORKS });
}

/** It stands where a launcher reads its orders, and only the forks go past it. */
const FORKS = `
open(REPORTS, '>&=', $ENV{NODE_CHANNEL_FD}) or exit 125;
sub report { syswrite(REPORTS, qq{"@_"\\n}) }

my $server = $$;
my $child_signal = pack('Q', 1 << 16);
# The ids of the forks that have not ended, by pid, and the server's own memory: its peak so far would be that of its supervisor, before it became Perl.
my (%id_of, $own_rss);
{
  # It ends with its supervisor.
  call('prctl', 1, 9, 0, 0, 0);
  call('rt_sigprocmask', 0, $child_signal, 0, 8);
  open(SIGNALS, '<&=', call('signalfd4', -1, $child_signal, 8, 02004000)) or exit 125;
  open(REQUESTS, '<&=', 3) or exit 125;
  open(my $own, '<', '/proc/self/status') or exit 125;
  ($own_rss) = join('', <$own>) =~ /^VmRSS:\\s+(\\d+) kB/m;
  close $own;
  my $requests = '';
  until (defined $one{status}) {
    my $ready = '';
    vec($ready, fileno $_, 1) = 1 for *SIGNALS, *REQUESTS;
    select($ready, undef, undef, undef);
    report_ends() if vec($ready, fileno SIGNALS, 1);
    next unless vec($ready, fileno REQUESTS, 1);
    sysread(REQUESTS, $requests, 65536, length $requests) or exit 0;
    while ($requests =~ s/^(.*)\\n//) { fork_for(split / /, $1) or last }
  }
}

sub report_ends {
  sysread(SIGNALS, my $signals, 4096);
  my $ended = pack('l', 0);
  my $usage = "\\0" x 144;
  while ((my $pid = syscall($call{wait4}, -1, $ended, 1, $usage)) > 0) {
    my ($cpu, $rss) = used($usage);
    report('ended', delete $id_of{$pid}, unpack('l', $ended), $cpu, $rss > 1.1 * $own_rss ? $rss : 0);
  }
}

# Returns false in the fork, which has its orders.
sub fork_for {
  my ($id, $supervisor, @given) = @_;
  my $pid = fork;
  unless (defined $pid) { report('failed', $id, $! + 0); return 1 }
  if ($pid) { $id_of{$pid} = $id; return 1 }
  call('prctl', 1, 9, 0, 0, 0);
  exit 125 if getppid() != $server;
  call('rt_sigprocmask', 1, $child_signal, 0, 8);
  syscall($call{setsid});
  be_given($id, map { "/proc/$supervisor/fd/$_" } @given);
  return 0;
}

# Opens descriptors of another process as 0, 1, 2, 3 …, and reads the orders from the first.
sub be_given {
  my ($id, @path) = @_;
  my $above = 64;
  for my $at (0 .. $#path) {
    my $mode = (lstat $path[$at])[2];
    my $fd = syscall($call{openat}, -100, $path[$at], $mode & 0200 ? 02000 | ($mode & 0400 ? 2 : 1) : 0, 0);
    if ($fd < 0) { report('failed', $id, $! + 0); exit 125 }
    call('dup3', $fd, $above + $at, 0);
    syscall($call{close}, $fd);
  }
  report('started', $id, $$);
  call('dup3', $above + $_, $_, 0) for 0 .. $#path;
  syscall($call{close_range}, scalar(@path), 4294967295, 0);
  my $orders = '';
  1 while sysread(STDIN, $orders, 65536, length $orders);
  take_orders(substr($orders, index($orders, "__END__\\n") + 8));
  defined $one{status} or exit 125;
}
`;
