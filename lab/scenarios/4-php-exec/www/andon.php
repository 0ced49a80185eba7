<?php
// A resident server instead of the command: the picture goes to Andon's Unix socket, the thumbnail comes back.
require 'picture.php';
$ask = curl_init('http://andon/_andon/render?recipe=' . rawurlencode('fit:250x250,q:90'));
curl_setopt_array($ask, [
    CURLOPT_UNIX_SOCKET_PATH => dirname(__DIR__) . '/andon.sock',
    CURLOPT_POSTFIELDS => file_get_contents(PICTURE),
    CURLOPT_HTTPHEADER => ['Content-Type: application/octet-stream', 'Expect:'],
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FAILONERROR => true,
]);
$picture = curl_exec($ask);
answer($picture !== false ? $picture : throw new RuntimeException('Andon: ' . curl_error($ask)));
