import { trustedProgram } from './trusted-program.ts';

/**
 * The program that a tool calls in place of ACOR: it writes its arguments into a file, copies the reply to its output, and ends with the
 * exit code of the reply. In Perl, as the launcher is.
 */
export function shimText({ requests, replies }: { requests: string; replies: string }): string {
  const perl = trustedProgram('perl');
  return `#!${typeof perl === 'string' ? '/usr/bin/perl' : perl.path}
use strict;
use Cwd qw(getcwd);
my ($requests, $replies) = (${quoted(requests)}, ${quoted(replies)});
my $id = join('-', $$, time, int(rand(1e9)));
my $name = $0; $name =~ s{.*/}{};
$| = 1;
open(my $call, '>', "$requests/$id.tmp") or die "acor: cannot reach the runner: $!\\n";
print $call join("\\0", getcwd(), $name, @ARGV);
close($call);
rename("$requests/$id.tmp", "$requests/$id.call") or die "acor: cannot reach the runner: $!\\n";
my $stop = sub { open(my $cancel, '>', "$requests/$id.cancel"); exit 130 };
$SIG{$_} = $stop for qw(INT TERM HUP);
my ($reply, $ended, $bytes);
while (1) {
  $ended = -e "$replies/$id.end" unless $ended;
  if (!$reply && open(my $file, '<', "$replies/$id")) { $reply = $file }
  my $got = 0;
  if ($reply) {
    while (my $count = sysread($reply, $bytes, 65536)) { print $bytes; $got += $count }
  }
  last if $ended && !$got;
  select(undef, undef, undef, 0.02) unless $got;
}
open(my $end, '<', "$replies/$id.end") or exit 1;
exit(<$end> + 0);
`;
}

function quoted(path: string): string {
  return `'${path.replaceAll(/[\\']/g, '\\$&')}'`;
}
