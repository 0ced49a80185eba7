<?php
// The same library in PHP's own process.
require 'picture.php';
$picture = new Imagick(PICTURE);
$picture->resizeImage(250, 140, Imagick::FILTER_LANCZOS, 1);
$picture->setImageCompressionQuality(90);
answer($picture->getImageBlob());
