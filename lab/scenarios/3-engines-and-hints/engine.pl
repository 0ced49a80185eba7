#!/usr/bin/perl
# A resident image server like ngx_small_light's workers: a few processes, each with an engine in it, each handling
# one request at a time. Answers /small_light(dw=W,dh=H,da=l,q=Q,jpeghint=y|n)/NAME and
# /resize/w/W/h/H/NAME, and closes the connection.
#
#   engine.pl ADDRESS WORKERS imagemagick|graphicsmagick|imlib2 FOLDER
#
# ADDRESS is HOST:PORT or unix:PATH. jpeghint=y passes the requested size to libjpeg (ImageMagick and
# GraphicsMagick; Imlib2's Perl binding cannot).
use strict;
use warnings;
use IO::Socket::INET;
use IO::Socket::UNIX;

my ($address, $workers, $engine, $folder) = @ARGV;
my %module = (imagemagick => 'Image::Magick', graphicsmagick => 'Graphics::Magick', imlib2 => 'Image::Imlib2');
my $module = $module{$engine} or die "no such engine: $engine\n";
eval "require $module; 1" or die $@;

my ($path) = $address =~ /^unix:(.*)/;
my $listener = defined $path
    ? IO::Socket::UNIX->new(Local => $path, Listen => 128)
    : IO::Socket::INET->new(LocalAddr => $address, Listen => 128, ReuseAddr => 1);
die "$address: $!\n" unless $listener;

my @workers = map { fork // die "fork: $!\n" or serve() } 1 .. $workers;
$SIG{TERM} = sub { kill TERM => @workers; exit };
1 while wait > 0;

sub serve {
    $SIG{PIPE} = 'IGNORE';
    while (my $client = $listener->accept) {
        my $target = target($client);
        my ($type, $body) = defined $target ? eval { answer($target) } : ();
        my $status = defined $body ? '200 OK' : '404 Not Found';
        ($type, $body) = ('text/plain', $@ || "not a URL of this server\n") unless defined $body;
        print $client "HTTP/1.1 $status\r\nContent-Type: $type\r\nContent-Length: ", length $body,
            "\r\nConnection: close\r\n\r\n", $body;
        close $client;
    }
    exit;
}

# Returns the request's target, and skips the headers.
sub target {
    my ($client) = @_;
    local $/ = "\r\n";
    my ($target) = (<$client> // '') =~ /^GET (\S+) HTTP/;
    while (defined(my $header = <$client>)) {
        last if $header eq "\r\n";
    }
    return $target;
}

sub answer {
    my ($target) = @_;
    my ($w, $h, $quality, $hint, $name) =
        $target =~ m{^/small_light\(dw=(\d+),dh=(\d+),da=l,q=(\d+),jpeghint=([yn])\)/([a-z-]+\.jpg)$};
    ($w, $h, $name, $quality, $hint) = ($1, $2, $3, 90, 'n')
        if $target =~ m{^/resize/w/(\d+)/h/(\d+)/([a-z-]+\.jpg)$};
    return unless defined $name;
    my $file = "$folder/$name";
    return ('image/jpeg',
        $engine eq 'imlib2' ? imlib2($file, $w, $h, $quality) : magick($file, $w, $h, $quality, $hint));
}

sub magick {
    my ($file, $w, $h, $quality, $hint) = @_;
    my $image = $module->new;
    if ($hint eq 'y') {
        # Each library has its own name for this option of libjpeg.
        $image->Set($engine eq 'imagemagick' ? (option => "jpeg:size=${w}x$h") : (size => "${w}x$h"));
    }
    done($image->Read($file));
    ($w, $h) = inside($w, $h, $image->Get('width', 'height'));
    done($image->Resize(width => $w, height => $h, filter => 'Lanczos'));
    done($image->Set(magick => 'JPEG', quality => $quality));
    return $image->ImageToBlob;
}

sub imlib2 {
    my ($file, $w, $h, $quality) = @_;
    my $image = Image::Imlib2->load($file);
    my $small = $image->create_scaled_image(inside($w, $h, $image->width, $image->height));
    $small->set_quality($quality);
    $small->image_set_format('jpeg');
    # Imlib2 can only write to files, in ngx_small_light too.
    my $out = "$folder/../imlib2-$$.jpg";
    $small->save($out);
    open my $saved, '<:raw', $out or die "$out: $!\n";
    local $/;
    return scalar <$saved>;
}

# Returns the largest size of this aspect ratio within $w x $h, as the module computes it: truncated, not rounded.
sub inside {
    my ($w, $h, $width, $height) = @_;
    return $width * $h < $height * $w ? (int $h * $width / $height, $h) : ($w, int $w * $height / $width);
}

# The libraries return errors as text with a number; numbers below 400 are warnings.
sub done {
    my ($message) = @_;
    die "$message\n" if "$message" =~ /(\d+)/ && $1 >= 400;
}
