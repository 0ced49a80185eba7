<?php
// Uses a resident server instead of a command: sends the image to Andon's Unix socket, which returns the thumbnail.
require 'image.php';
$ask = curl_init('http://andon/_andon/render?recipe=' . rawurlencode('fit:250x250,q:90'));
curl_setopt_array($ask, [
    CURLOPT_UNIX_SOCKET_PATH => dirname(__DIR__) . '/andon.sock',
    CURLOPT_POSTFIELDS => file_get_contents(IMAGE),
    CURLOPT_HTTPHEADER => ['Content-Type: application/octet-stream', 'Expect:'],
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FAILONERROR => true,
]);
$thumbnail = curl_exec($ask);
answer($thumbnail !== false ? $thumbnail : throw new RuntimeException('Andon: ' . curl_error($ask)));
