import { type Architecture, numberOf } from '../seccomp/system-calls.ts';
import { addressBytes } from './address.ts';
import type { EgressLayout } from './layout.ts';

/** The parameters of the entry: its network, and the command that it executes. */
export interface EntrySteps {
  layout: EgressLayout;
  /** Root creates the network itself; for other users an outer bubblewrap has created it. */
  makesNetwork: boolean;
  argv: readonly string[];
}

/**
 * The script that runs before a sandbox with egress. In a separate network it creates the listening sockets, sends them
 * to the supervisor, and executes the sandbox once the supervisor has received all. It leaves no process and no
 * descriptor for the tool.
 *
 * The sockets travel over the IPC channel that both runtimes have for child processes, in that channel's format
 * (`NODE_HANDLE`): the only way in which either runtime accepts a socket from another process.
 */
export function entryScript({ layout, makesNetwork, argv }: EntrySteps, architecture: Architecture): string {
  const call = (name: string) => numberOf(name, architecture);
  const records = [
    ...(makesNetwork ? ['network='] : []),
    ...layout.addresses.map((address) => `address=${hexOf(address)}`),
    ...layout.listeners.map(({ address, port }) => `listen=${hexOf(address)} ${port}`),
    ...argv.map((word) => `arg=${word}`),
  ];
  const calls = `my ($UNSHARE, $SENDMSG) = (${call('unshare')}, ${call('sendmsg')});`;
  return `${calls}\n${SCRIPT}__END__\n${records.join('\0')}`;
}

function hexOf(address: string): string {
  return Buffer.from(addressBytes(address)).toString('hex');
}

const SCRIPT = `
use strict;
my (%one, @address, @listen, @arg);
{
  binmode DATA;
  local $/;
  for (split /\\0/, <DATA>) {
    my ($key, $value) = /^([a-z]+)=(.*)$/s or next;
    if ($key eq 'address') { push @address, pack('H*', $value) }
    elsif ($key eq 'listen') { push @listen, [split / /, $value] }
    elsif ($key eq 'arg') { push @arg, $value }
    else { $one{$key} = 1 }
  }
}
sub fail { print STDERR "network: $_[0]: $!\\n"; exit 125 }
# EAGAIN and EINTR.
sub again { $! == 11 || $! == 4 }
sub hear { my $ready = ''; vec($ready, $_[0], 1) = 1; $ready }

my $channel = 0 + (delete $ENV{NODE_CHANNEL_FD} or fail('there is no channel'));
delete $ENV{NODE_CHANNEL_SERIALIZATION_MODE};
open(CHANNEL, '+<&=', $channel) or fail('the channel');
fcntl(CHANNEL, 2, 1) or fail('the channel');

# A network with nothing in it but its own loopback device, which has to be up.
if ($one{network}) { syscall($UNSHARE, 0x40000000) == 0 or fail('a new network namespace') }
socket(my $four, 2, 2, 0) or fail('a socket');
my $up = pack('a16 s x22', 'lo', 0x41);
ioctl($four, 0x8914, $up) or fail('the loopback device');
my $label = 0;
for (@address) {
  if (length == 4) {
    my $name = 'lo:' . ++$label;
    my $set = pack('a16 S x2 a4 x16', $name, 2, $_);
    ioctl($four, 0x8916, $set) or fail('an address');
    # With the mask of its class everything beside it would be here, too.
    my $mask = pack('a16 S x2 a4 x16', $name, 2, "\\xff" x 4);
    ioctl($four, 0x891c, $mask) or fail('the mask of an address');
  } else {
    socket(my $six, 10, 2, 0) or fail('IPv6');
    my $set = pack('a16 L l', $_, 128, 1);
    ioctl($six, 0x8916, $set) or fail('an IPv6 address');
  }
}

my @kept;
for my $place (0 .. $#listen) {
  my ($hex, $port) = @{$listen[$place]};
  my $address = pack('H*', $hex);
  my $is_six = length($address) == 16;
  socket(my $listener, $is_six ? 10 : 2, 1, 0) or fail('a socket');
  my $where = $is_six ? pack('S n L a16 L', 10, $port, 0, $address, 0) : pack('S n a4 x8', 2, $port, $address);
  # An IPv6 address is there a moment after it has been given.
  for (my $try = 0; !bind($listener, $where); $try++) {
    fail("port $port") if $! != 99 || $try > 1000;
    select(undef, undef, undef, 0.002);
  }
  listen($listener, 128) or fail("port $port");
  my $text = '{"cmd":"NODE_HANDLE","type":"net.Server","msg":{"place":' . $place . '}}' . "\\n";
  my $bytes = pack('P Q', $text, length $text);
  my $rights = pack('Q l l l x4', 20, 1, 1, fileno $listener);
  my $message = pack('Q L x4 P Q P Q l x4', 0, 0, $bytes, 1, $rights, length $rights, 0);
  for (;;) {
    my $sent = syscall($SENDMSG, $channel, $message, 0x4000);
    last if $sent == length $text;
    # A part of a message would be no message any more.
    fail('the channel') if $sent >= 0 || !again();
    select(undef, my $ready = hear($channel), undef, undef);
  }
  push @kept, $listener;
}

my $heard = '';
until ($heard =~ /^"go"$/m) {
  select(my $ready = hear($channel), undef, undef, undef);
  my $count = sysread(CHANNEL, $heard, 65536, length $heard);
  next if !defined $count && again();
  fail('the supervisor has not taken it over') unless $count;
}
close CHANNEL;
close $_ for @kept, $four;
exec { $arg[0] } @arg or fail($arg[0]);
`;
