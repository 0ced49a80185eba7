<?php
// Makes a thumbnail of a photo with GD, which decodes all of the JPEG: PHP's GD cannot decode at a smaller scale.
$photo = imagecreatefromjpeg(__DIR__ . '/photo.jpg');
header('Content-Type: image/jpeg');
ob_start();
imagejpeg(imagescale($photo, 250, 188), null, 85);
header('Content-Length: ' . ob_get_length());
ob_end_flush();
