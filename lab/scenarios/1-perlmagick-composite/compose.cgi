#!/usr/bin/perl
# Field report 1: reads two pictures, lays the second over the first, writes the result, and ends.
# Answers /small_light(embedicon=OVERLAY,ix=X,iy=Y,of=FORMAT,q=QUALITY)/BASE.
use strict;
use warnings;
use Image::Magick;

my ($overlay, $x, $y, $format, $quality, $base) = $ENV{REQUEST_URI} =~
    m{^/small_light\(embedicon=([a-z.-]+),ix=(\d+),iy=(\d+),of=(png|jpeg)(?:,q=(\d+))?\)/([a-z.-]+)$}
    or fail('not a URL of this script');

my $picture = pixels("$ENV{WORK}/pictures/$base");
my $icon = pixels("$ENV{WORK}/icons/$overlay");
done($picture->Composite(image => $icon, compose => 'Over', x => $x, y => $y));
# A GIF's palette and page must not decide what the PNG looks like.
done($picture->Set(magick => $format, type => 'TrueColor'));
done($picture->Set(quality => $quality)) if defined $quality;

my @result = $picture->ImageToBlob;
fail('nothing was written') unless @result == 1;
binmode STDOUT;
print "Content-Type: image/$format\r\nContent-Length: ", length $result[0], "\r\n\r\n", $result[0];

sub pixels {
    my ($path) = @_;
    my $picture = Image::Magick->new;
    done($picture->Read($path));
    return $picture;
}

# PerlMagick says in a text what went wrong; below 400 it is a warning.
sub done {
    my ($said) = @_;
    fail($said) if "$said" =~ /(\d+)/ && $1 >= 400;
}

sub fail {
    print "Status: 500\r\nContent-Type: text/plain\r\n\r\n$_[0]\n";
    exit;
}
