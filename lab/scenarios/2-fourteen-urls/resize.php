<?php
// Field report 2's work in PHP: /resize/w/W/h/H/NAME.jpg, decoded in full as the module does without jpeghint.
if (!preg_match('~^/resize/w/(\d+)/h/(\d+)/([a-z-]+\.jpg)$~', $_SERVER['REQUEST_URI'], $match)) {
    http_response_code(404);
    exit;
}
[, $w, $h, $name] = $match;
$image = new Imagick(__DIR__ . "/pictures/$name");
$width = $image->getImageWidth();
$height = $image->getImageHeight();
// The largest size of this aspect ratio inside the box, truncated rather than rounded.
if ($width * $h < $height * $w) {
    $w = intdiv($h * $width, $height);
} else {
    $h = intdiv($w * $height, $width);
}
$image->resizeImage($w, $h, Imagick::FILTER_LANCZOS, 1);
// Metadata would be up to half of a small response. Andon's URLs have rmprof=y for the same reason.
$image->stripImage();
$image->setImageCompressionQuality(90);
header('Content-Type: image/jpeg');
echo $image->getImageBlob();
