<?php
// One photograph to a thumbnail by GD, whose JPEG library decodes all of it: PHP's GD has no scale for decoding.
$photo = imagecreatefromjpeg(__DIR__ . '/photo.jpg');
header('Content-Type: image/jpeg');
ob_start();
imagejpeg(imagescale($photo, 250, 188), null, 85);
header('Content-Length: ' . ob_get_length());
ob_end_flush();
