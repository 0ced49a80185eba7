#!/usr/bin/perl
# Field report 1: reads two images, composites the second over the first, writes the result, and ends.
# Answers /small_light(embedicon=OVERLAY,ix=X,iy=Y,of=FORMAT,q=QUALITY)/BASE.
use strict;
use warnings;
use Image::Magick;

my ($overlay, $x, $y, $format, $quality, $base) = $ENV{REQUEST_URI} =~
    m{^/small_light\(embedicon=([a-z.-]+),ix=(\d+),iy=(\d+),of=(png|jpeg)(?:,q=(\d+))?\)/([a-z.-]+)$}
    or fail('not a URL of this script');

my $image = pixels("$ENV{WORK}/pictures/$base");
my $icon = pixels("$ENV{WORK}/icons/$overlay");
done($image->Composite(image => $icon, compose => 'Over', x => $x, y => $y));
# Without this, the GIF's palette and page would affect the PNG.
done($image->Set(magick => $format, type => 'TrueColor'));
done($image->Set(quality => $quality)) if defined $quality;

my @result = $image->ImageToBlob;
fail('nothing was written') unless @result == 1;
binmode STDOUT;
print "Content-Type: image/$format\r\nContent-Length: ", length $result[0], "\r\n\r\n", $result[0];

sub pixels {
    my ($path) = @_;
    my $image = Image::Magick->new;
    done($image->Read($path));
    return $image;
}

# PerlMagick returns errors as text with a number; numbers below 400 are warnings.
sub done {
    my ($message) = @_;
    fail($message) if "$message" =~ /(\d+)/ && $1 >= 400;
}

sub fail {
    print "Status: 500\r\nContent-Type: text/plain\r\n\r\n$_[0]\n";
    exit;
}
