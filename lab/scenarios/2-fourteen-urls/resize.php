<?php
// Field report 2's work in PHP: /resize/w/W/h/H/NAME.jpg, decoded in full as the module does without jpeghint.
if (!preg_match('~^/resize/w/(\d+)/h/(\d+)/([a-z-]+\.jpg)$~', $_SERVER['REQUEST_URI'], $asked)) {
    http_response_code(404);
    exit;
}
[, $w, $h, $name] = $asked;
$picture = new Imagick(__DIR__ . "/pictures/$name");
$width = $picture->getImageWidth();
$height = $picture->getImageHeight();
// The largest size of this shape inside the box, cut off and not rounded.
if ($width * $h < $height * $w) {
    $w = intdiv($h * $width, $height);
} else {
    $h = intdiv($w * $height, $width);
}
$picture->resizeImage($w, $h, Imagick::FILTER_LANCZOS, 1);
// Metadata would be up to half of a small reply; Andon is told the same (rmprof=y).
$picture->stripImage();
$picture->setImageCompressionQuality(90);
header('Content-Type: image/jpeg');
echo $picture->getImageBlob();
