<?php
// The cure that the report proposed: a server that stays, asked over a Unix socket on one connection.
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
