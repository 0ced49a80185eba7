#!/usr/bin/perl
# A resident image server as ngx_small_light's workers are: a few processes, each with an engine in it, each busy
# with one request at a time. Answers /small_light(dw=W,dh=H,da=l,q=Q,jpeghint=y|n)/NAME and
# /resize/w/W/h/H/NAME, and closes.
#
#   engine.pl ADDRESS WORKERS imagemagick|graphicsmagick|imlib2 FOLDER
#
# ADDRESS is HOST:PORT or unix:PATH. jpeghint=y tells libjpeg the size that is wanted (ImageMagick and
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

# The request's target; its headers are read and not needed.
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
    my $picture = $module->new;
    if ($hint eq 'y') {
        # The same request to libjpeg under each library's own name.
        $picture->Set($engine eq 'imagemagick' ? (option => "jpeg:size=${w}x$h") : (size => "${w}x$h"));
    }
    done($picture->Read($file));
    ($w, $h) = inside($w, $h, $picture->Get('width', 'height'));
    done($picture->Resize(width => $w, height => $h, filter => 'Lanczos'));
    done($picture->Set(magick => 'JPEG', quality => $quality));
    return $picture->ImageToBlob;
}

sub imlib2 {
    my ($file, $w, $h, $quality) = @_;
    my $picture = Image::Imlib2->load($file);
    my $small = $picture->create_scaled_image(inside($w, $h, $picture->width, $picture->height));
    $small->set_quality($quality);
    $small->image_set_format('jpeg');
    # Imlib2 writes files only, in ngx_small_light too.
    my $out = "$folder/../imlib2-$$.jpg";
    $small->save($out);
    open my $saved, '<:raw', $out or die "$out: $!\n";
    local $/;
    return scalar <$saved>;
}

# The largest size of this shape within $w x $h, as the module computes it: cut off, not rounded.
sub inside {
    my ($w, $h, $width, $height) = @_;
    return $width * $h < $height * $w ? (int $h * $width / $height, $h) : ($w, int $w * $height / $width);
}

# The libraries say in a text what went wrong; below 400 it is a warning.
sub done {
    my ($said) = @_;
    die "$said\n" if "$said" =~ /(\d+)/ && $1 >= 400;
}
