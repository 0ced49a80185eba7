<?php
// Makes a thumbnail WORK times, so that all of the work except HTTP grows in proportion.
$jpeg = '';
for ($left = (int) (getenv('WORK') ?: 10); $left > 0; $left--) {
    $image = imagecreatefromjpeg(__DIR__ . '/../../../samples/jpeg/orientation-1.jpg');
    $thumbnail = imagescale($image, 40, 30);
    ob_start();
    imagejpeg($thumbnail, null, 85);
    $jpeg = ob_get_clean();
}
header('Content-Type: image/jpeg');
header('Content-Length: ' . strlen($jpeg));
echo $jpeg;
