#!/usr/bin/perl
# A CGI that lays a PNG over a GIF and responds with a PNG. It replaces Image::Magick's Read, Read, Composite(compose => 'over', x
# => 0, y => 0) and Write, which ran in every process. The PNG is in the folder that small_light.material_dir names. This script
# processes no pixels.
#
#   ANDON_SOCKET  where Andon listens
#   BASE          the GIF
#   OVERLAY       the name of the PNG in that folder
use strict;
use warnings;
use IO::Socket::UNIX;

my ($status, $answer) = andon(slurp($ENV{BASE}), "over:$ENV{OVERLAY}:0:0,as:png");
binmode STDOUT;
if ($status == 200) {
    print "Content-Type: image/png\r\nContent-Length: ", length $answer, "\r\n\r\n", $answer;
} else {
    print "Status: $status\r\nContent-Type: text/plain\r\n\r\n", $answer;
}

# Posts an image with a recipe. Returns the status and the body.
sub andon {
    my ($image, $recipe) = @_;
    my $andon = IO::Socket::UNIX->new(Peer => $ENV{ANDON_SOCKET})
        or return (503, "no connection to $ENV{ANDON_SOCKET}: $!\n");
    binmode $andon;
    print $andon "POST /_andon/render HTTP/1.1\r\nHost: andon\r\nConnection: close\r\n",
        "Andon-Recipe: $recipe\r\nContent-Length: ", length $image, "\r\n\r\n", $image;
    $andon->flush;
    my $reply = do { local $/; <$andon> } // '';
    my ($head, $body) = split /\r\n\r\n/, $reply, 2;
    my ($status) = ($head // '') =~ m{^HTTP/1\.1 (\d+)};
    my ($length) = ($head // '') =~ m{^content-length: (\d+)}mi;
    return (502, "the answer broke off\n")
        unless defined $status && defined $length && length $body == $length;
    return ($status, $body);
}

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "$path: $!";
    local $/;
    return scalar <$file>;
}
