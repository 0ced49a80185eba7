<?php
// Makes the thumbnail with the library of `convert`, in PHP's own process.
require 'image.php';
$image = new Imagick(IMAGE);
$image->resizeImage(250, 140, Imagick::FILTER_LANCZOS, 1);
$image->setImageCompressionQuality(90);
answer($image->getImageBlob());
