<?php
// Shared by the three ways to make a thumbnail: the path of the image, and the JPEG response.
const IMAGE = __DIR__ . '/../data/photo.jpg';

function answer(string $jpeg): void
{
    header('Content-Type: image/jpeg');
    header('Content-Length: ' . strlen($jpeg));
    echo $jpeg;
}
