# Has a waiting process of the host run a command line, as `call-host.ts` does, in a part of the time that the compiled program takes to
# start. `acor` starts it where a process seems to wait:
#
#   perl call-host.pl HOSTS PROGRAM ARGUMENT...
#
# HOSTS is the folder of all hosts of this user. Whatever stands in the way before the command has begun: PROGRAM runs it by itself.
# There is no `use`: to load a module takes longer than the rest. What follows `__END__` is compiled while the host works already.

my ($hosts, $program, @argv) = @ARGV;
# As `READ_AT_START` in host-folder.ts.
my $at_start = qr/^(?:HOME|PATH|TZ|TMPDIR|LANG|LANGUAGE|LC_\w+|LD_\w+|MALLOC_\w+|XDG_\w+|BUN_\w+|NODE_\w+|SSL_CERT_\w+|OPENSSL_\w+|\w+_proxy|\w+_PROXY)$/;
my ($EINTR, $EAGAIN, $EPIPE) = (4, 11, 32);
my %exit_by = (INT => 130, TERM => 143, HUP => 129);
# What signals did when this program started. Perl itself ignores SIGFPE.
my %before = (FPE => 'DEFAULT', map { $_ => $SIG{$_} // 'DEFAULT' } 'PIPE', keys %exit_by);
# Perl reads no locale, which takes a tenth of its start and warns of one that is not installed: `acor` has set LC_ALL.
if (defined(my $before = delete $ENV{ACOR_LC_ALL})) { $ENV{LC_ALL} = $before }
else { delete $ENV{LC_ALL} }

run_here() unless stat STDOUT and stat STDERR and !-t STDOUT and !-t STDERR;
my $cwd = readlink '/proc/self/cwd';
run_here() unless defined $cwd and is_same($cwd, '.');
my @program = stat $program or run_here();
my $terms = join "\0", @program[0, 1, 7, 9], root_of($cwd), sort map { "$_=$ENV{$_}" } grep { /$at_start/ } keys %ENV;
# JSON is UTF-8.
utf8::decode(my $texts = join "\0", $cwd, @argv, %ENV) or run_here();

opendir my $all, $hosts or run_here();
for my $folder (map { "$hosts/$_" } readdir $all) {
  my @stat = lstat $folder or next;
  next unless -d _ and $stat[4] == $< and !($stat[2] & 077) and content_of("$folder/terms") eq $terms;
  # Through the descriptor the path of a socket is short, wherever the folder is.
  open my $descriptor, '<', $folder or next;
  my $short = '/proc/self/fd/' . fileno $descriptor;
  opendir my $sockets, $folder or next;
  for my $idle (grep { /^\d+-\d+\.idle$/ } readdir $sockets) {
    (my $busy = "$short/$idle") =~ s/idle$/busy/;
    # Only one caller can rename it.
    call_host($busy) if rename "$short/$idle", $busy;
  }
}
run_here();

sub run_here {
  @SIG{keys %before} = values %before;
  exec { $program } $program, @argv;
  exit 126;
}

sub is_same {
  my ($left, $right) = map { join ':', (stat)[0, 1] } @_;
  return $left eq $right;
}

# As `findProject` does.
sub root_of {
  my ($start) = @_;
  my $owner = (stat $start)[4];
  for (my $dir = $start; ; $dir =~ s{/[^/]*$}{}) {
    my @found = stat "$dir/.acor";
    if (@found and -d _ and ($dir eq $start or grep { $found[4] == $_ } 0, $<, $owner)) {
      return $dir eq '' ? '/' : $dir;
    }
    return $start if $dir eq '' or $dir eq '/';
  }
}

sub content_of {
  open my $file, '<', $_[0] or return '';
  local $/;
  return <$file>;
}

sub text {
  my ($text) = @_;
  $text =~ s/(["\\\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
  return qq{"$text"};
}

sub call_as_json {
  my ($id) = @_;
  my $argv = join ',', map { text($_) } @argv;
  my $env = join ',', map { text($_) . ':' . text($ENV{$_}) } keys %ENV;
  my $is_terminal = -t STDIN ? 'true' : 'false';
  my $may_hold = stat STDIN && !-c _ ? 'true' : 'false';
  return qq({"call":{"argv":[$argv],"cwd":) . text($cwd)
    . qq(,"env":{$env},"stdinIsTTY":$is_terminal,"mayHoldInput":$may_hold},"id":"$id"}\n);
}

# Of the call: its connections, what the streams still have to write, and what was said so far.
my ($control, @streams, $heard, $stdin, $has_begun, $exit, $problem);

# Returns when the command has not begun.
sub call_host {
  my ($path) = @_;
  my @sockets = map { connected($path) } 1 .. 3;
  if (@sockets < 3) {
    unlink $path;
    return;
  }
  ($control, @streams) = (shift @sockets, map { { socket => $_, unwritten => '' } } @sockets);
  @{$streams[0]}{'name', 'to'} = ('stdout', \*STDOUT);
  @{$streams[1]}{'name', 'to'} = ('stderr', \*STDERR);
  $heard = '';
  $SIG{PIPE} = 'IGNORE';
  for my $name (keys %exit_by) {
    # Before the command has begun nothing would answer.
    $SIG{$name} = sub { $has_begun ? send_to($control, qq({"signal":"SIG$name"}\n)) : exit $exit_by{$name} };
  }
  my $id = "$$-" . rand;
  send_to($_->{socket}, qq({"stream":"$_->{name}","id":"$id"}\n)) for @streams;
  send_to($control, call_as_json($id));
  eval do { local $/; <DATA> };
  die $@ if $@;
  follow_call();
}

sub connected {
  socket my $socket, 1, 1, 0 or return;
  return connect($socket, pack 'S a108', 1, $_[0]) ? $socket : ();
}

# Writes all of it; a host that is gone is noticed when its connection is read.
sub send_to {
  my ($socket, $bytes) = @_;
  while (length $bytes) {
    my $count = syswrite $socket, $bytes;
    if (defined $count) { substr($bytes, 0, $count) = '' }
    elsif ($! != $EINTR) { return }
  }
}

__END__
# Returns when the command has not begun.
sub follow_call {
  relay() while @streams && $has_begun or $control && !defined $exit;
  return unless $has_begun;
  if (!defined $exit) {
    @argv = ('host', 'lost');
    run_here();
  }
  exit $exit unless defined $problem;
  syswrite STDERR, "acor: the answer could not be written: $problem\n";
  exit 1;
}

# Moves what can be moved without waiting for one reader alone.
sub relay {
  my ($readable, $writable) = ('', '');
  vec($readable, fileno $control, 1) = 1 if $control;
  vec($readable, 0, 1) = 1 if defined $stdin;
  for (@streams) {
    if (length $_->{unwritten}) { vec($writable, fileno $_->{to}, 1) = 1 }
    else { vec($readable, fileno $_->{socket}, 1) = 1 }
  }
  # Perl handles a signal that comes right before `select` when that returns: after a second at most.
  return unless select($readable, $writable, undef, 1) > 0;
  for (@streams) {
    my $stays = length $_->{unwritten}
      ? !vec($writable, fileno $_->{to}, 1) || write_some($_)
      : !vec($readable, fileno $_->{socket}, 1) || read_some($_->{socket}, $_->{unwritten});
    # So the host learns that the reader has left.
    close delete $_->{socket} unless $stays;
  }
  @streams = grep { $_->{socket} } @streams;
  take_stdin() if defined $stdin and vec($readable, 0, 1);
  if ($control and vec($readable, fileno $control, 1)) {
    if (read_some($control, $heard)) { hear($1) while $heard =~ s/^(.*)\n// }
    else { undef $control }
  }
}

# As read-stdin.ts does.
sub take_stdin {
  $! = 0;
  my $has_more = read_some(\*STDIN, $stdin);
  my $problem = length $stdin > 64 * 1024 * 1024 ? 'EFBIG' : $has_more || !$! ? undef : error_name($!);
  return if $has_more and !$problem;
  my $answer = $problem ? qq({"stdin":"","problem":"$problem"}\n) : '{"stdin":"' . base64($stdin) . qq("}\n);
  send_to($control, $answer) if $control;
  undef $stdin;
}

# Appends to the second argument; false at the end.
sub read_some {
  my $count = sysread $_[0], $_[1], 65536, length $_[1];
  return defined $count ? $count > 0 : $! == $EINTR || $! == $EAGAIN;
}

# False when the stream is to be read no more. A pipe that is ready for bytes takes 4096 of them without waiting.
sub write_some {
  my ($stream) = @_;
  my $count = syswrite $stream->{to}, $stream->{unwritten}, -f $stream->{to} ? length $stream->{unwritten} : 4096;
  if (defined $count) { substr($stream->{unwritten}, 0, $count) = '' }
  return 1 if defined $count or $! == $EINTR or $! == $EAGAIN;
  # The run continues when its reader has left.
  $problem //= described($!) unless $! == $EPIPE;
  return 0;
}

sub hear {
  my ($message) = @_;
  if ($message =~ /^\{"begun"/) { $has_begun = 1 }
  elsif ($message =~ /^\{"exit":(\d+)/) { $exit = $1 }
  elsif ($message =~ /^\{"want":"stdin"/) { $stdin = '' }
  elsif ($message =~ /^\{"want":"unread"/) { send_to($control, '{"unread":' . (has_unread() ? 'true' : 'false') . "}\n") }
}

sub described {
  my ($error) = @_;
  return error_name($error) . ': ' . lcfirst("$error") . ', write';
}

sub error_name {
  my ($error) = @_;
  # Perl loads its list of error names, which takes 3 ms, when it compiles a mention of `%!`.
  my ($name) = eval '$! = $error; grep { $!{$_} } keys %!';
  return $name;
}

sub base64 {
  my ($bytes) = @_;
  my $text = '';
  for (my $at = 0; $at < length $bytes; $at += 45) {
    $text .= substr pack('u', substr $bytes, $at, 45), 1;
    chop $text;
  }
  $text =~ tr{` -_}{AA-Za-z0-9+/};
  my $padding = -length($bytes) % 3;
  substr($text, length($text) - $padding) = '=' x $padding;
  return $text;
}

# As `hasUnreadStdin` does.
sub has_unread {
  my @stat = stat STDIN or return 0;
  return sysseek(STDIN, 0, 1) < $stat[7] if -f _;
  return 0 unless -p _ or -S _;
  my $is_pipe = -p _;
  my $FIONREAD = 0x541b;
  my $held = pack 'i', 0;
  return 1 if ioctl(STDIN, $FIONREAD, $held) and unpack 'i', $held;
  return 0 unless $is_pipe;
  my $parent = getppid;
  return grep { $_ != $$ and (readlink("/proc/$_/fd/1") // '') eq "pipe:[$stat[1]]" }
    split ' ', content_of("/proc/$parent/task/$parent/children");
}
