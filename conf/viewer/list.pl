#!/usr/bin/perl
# list.pl DIR PORT: asks the tegula behind http://127.0.0.1:PORT which files of DIR are images, and
# prints what gallery.js shows as JSON. Needs nothing but Debian's perl-base.
use strict;
use warnings;
use IO::Socket::INET;

my ($root, $port) = @ARGV;
my $MAX_FILES = 20_000;
$root =~ s{/*\z}{/};

my (@images, @others, %seen, $more);
my $looked_at = 0;
my $socket;

# Name of a file relative to the folder, as an identifier: all that is not unreserved is encoded.
sub encoded {
    my ($name) = @_;
    $name =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge;
    return $name;
}

# Bytes as a JSON string. What is no UTF-8 is shown as question marks.
sub json {
    my ($bytes) = @_;
    my $text = $bytes;
    utf8::decode($text) or $text =~ s/[^\x00-\x7f]/?/g;
    $text =~ s/(["\\])/\\$1/g;
    $text =~ s/([\x00-\x1f\x7f])/sprintf '\\u%04x', ord $1/ge;
    utf8::encode($text);
    return qq("$text");
}

# Status and body. One connection for all.
sub get {
    my ($path) = @_;
    for my $try (1, 2) {
        $socket ||= IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5)
            or die "no server on port $port\n";
        print {$socket} "GET $path HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n\r\n";
        my $status = <$socket>;
        if (!defined $status) {    # an idle connection that the server has closed
            undef $socket;
            next;
        }
        my ($length, $close) = (undef, 0);
        while (defined(my $line = <$socket>) ) {
            last if $line =~ /^\r?\n\z/;
            $length = $1 if $line =~ /^content-length:\s*(\d+)/i;
            $close = 1 if $line =~ /^connection:\s*close/i;
        }
        my $body = '';
        defined $length ? read $socket, $body, $length : ($close = 1);
        undef $socket if $close;
        return ($status =~ m{^HTTP/1\.1 (\d+) } ? $1 : 0, $body);
    }
    return (0, '');
}

sub look_at {
    my ($name) = @_;
    my ($status, $body) = get('/iiif/3/' . encoded($name) . '/info.json');
    if ($status == 200 && $body =~ /"width":\s*(\d+)/) {
        my $width = $1;
        my ($height) = $body =~ /"height":\s*(\d+)/;
        push @images, sprintf '{"id":"%s","name":%s,"width":%d,"height":%d}', encoded($name), json($name), $width, $height;
    } else {
        # Of what is no picture at all there is nothing to tell.
        my $why = $body =~ /^\s*<|is not a picture/ ? '' : $body =~ s/\s+\z//r;
        push @others, sprintf '{"name":%s,"why":%s}', json($name), json($why);
    }
    print STDERR "   $looked_at files looked at\n" if ++$looked_at % 1000 == 0;
}

# Names in order, folders behind the files beside them; hidden ones left out. Links are followed, but no
# folder is entered twice.
sub walk {
    my ($folder) = @_;
    my ($device, $inode) = stat $root . $folder or return;
    return if $seen{"$device:$inode"}++;
    opendir my $handle, $root . $folder or return;
    my @names = sort { lc $a cmp lc $b or $a cmp $b } grep { !/^\./ } readdir $handle;
    closedir $handle;
    my @folders;
    for my $name (map { $folder . $_ } @names) {
        if (-d $root . $name) {
            push @folders, "$name/";
        } elsif (-f _) {
            $more = 1, return if $looked_at >= $MAX_FILES;
            look_at($name);
        }
    }
    walk($_) for @folders;
}

local $SIG{PIPE} = 'IGNORE';
walk('');
my ($title) = $root =~ m{([^/]+)/\z};
printf qq({"folder":%s,"more":%s,\n"images":[\n%s\n],\n"others":[\n%s\n]}\n), json(defined $title ? $title : '/'),
    $more ? 'true' : 'false', join(",\n", @images), join(",\n", @others);
printf STDERR "== %d image%s, %d other file%s\n", map { scalar @$_, @$_ == 1 ? '' : 's' } \@images, \@others;
