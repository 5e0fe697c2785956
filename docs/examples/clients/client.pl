#!/usr/bin/env perl
# usage: client.pl MESSAGE [options of tiller]
use strict;
use warnings;
use IPC::Open2;
use JSON::PP;

my ($message, @options) = @ARGV;
my $json = JSON::PP->new->utf8->canonical;
my $pid = open2(my $from, my $to, 'tiller', '--mode', 'rpc', '--no-session', @options);
binmode STDOUT, ':encoding(UTF-8)';
$| = 1;
$to->autoflush(1);

sub send_frame { print {$to} $json->encode($_[0]), "\n" }

# Says yes to every question, and nothing to all that needs a text.
sub answer {
    my ($dialog) = @_;
    print STDERR "\n? $dialog->{title}\n";
    my @yes = $dialog->{method} eq 'confirm' ? (confirmed => JSON::PP::true) : (cancelled => JSON::PP::true);
    send_frame({ type => 'extension_ui_response', id => $dialog->{id}, @yes });
}

utf8::decode($message);
send_frame({ id => '1', type => 'prompt', message => $message });
my $status = 'lost';
while (my $line = <$from>) {
    my $frame = $json->decode($line);
    my $type = $frame->{type};
    if ($type eq 'message_update' && $frame->{assistantMessageEvent}{type} eq 'text_delta') {
        print $frame->{assistantMessageEvent}{delta};
    } elsif ($type eq 'message_update' && $frame->{assistantMessageEvent}{type} eq 'text_end') {
        print "\n";
    } elsif ($type eq 'extension_ui_request' && $frame->{method} =~ /^(confirm|select|input|editor)$/) {
        answer($frame);
    } elsif ($type eq 'response' && !$frame->{success}) {
        print STDERR "$frame->{error}\n";
        last;
    } elsif ($type eq 'prompt_result' && $frame->{id} eq '1') {
        $status = $frame->{status} . ($frame->{error} ? ": $frame->{error}{message}" : '');
        last;
    }
}

print "\n$status\n";
close $to;    # the agent ends when nobody can write to it any more
1 while <$from>;
waitpid $pid, 0;
exit($status eq 'completed' ? 0 : 1);
