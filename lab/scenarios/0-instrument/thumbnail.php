<?php
// A thumbnail, made WORK times over: all of the work but the HTTP around it grows in proportion.
$jpeg = '';
for ($left = (int) (getenv('WORK') ?: 10); $left > 0; $left--) {
    $picture = imagecreatefromjpeg(__DIR__ . '/../../../samples/jpeg/orientation-1.jpg');
    $thumbnail = imagescale($picture, 40, 30);
    ob_start();
    imagejpeg($thumbnail, null, 85);
    $jpeg = ob_get_clean();
}
header('Content-Type: image/jpeg');
header('Content-Length: ' . strlen($jpeg));
echo $jpeg;
