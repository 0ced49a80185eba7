<?php
// The remedy that the report proposed: requests to a resident server over one connection to a Unix socket.
require 'read.php';
$ask = curl_init('http://resident/note.txt');
curl_setopt_array($ask, [
    CURLOPT_UNIX_SOCKET_PATH => dirname(__DIR__) . '/resident.sock',
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FAILONERROR => true,
]);
repeat(function () use ($ask): string {
    $text = curl_exec($ask);
    if ($text === false) {
        throw new RuntimeException(curl_error($ask));
    }
    return $text;
});
