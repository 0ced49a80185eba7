<?php
// What the three ways to a thumbnail have in common: the picture, and that the answer is a JPEG.
const PICTURE = __DIR__ . '/../data/photo.jpg';

function answer(string $picture): void
{
    header('Content-Type: image/jpeg');
    header('Content-Length: ' . strlen($picture));
    echo $picture;
}
