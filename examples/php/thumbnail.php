<?php
// A thumbnail without starting a process. It replaces exec('convert in.jpg -resize 250x250 -quality 90 out.jpg').
//
//   php thumbnail.php SOCKET IN OUT [RECIPE]
//
// A page that uses `require 'thumbnail.php'` gets only the function.

/** Posts an image to Andon over its Unix socket and returns the result. */
function andon(string $socket, string $image, string $recipe): string
{
    $request = curl_init('http://andon/_andon/render?recipe=' . rawurlencode($recipe));
    curl_setopt_array($request, [
        CURLOPT_UNIX_SOCKET_PATH => $socket,
        CURLOPT_POSTFIELDS => $image,
        CURLOPT_HTTPHEADER => ['Content-Type: application/octet-stream'],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
    ]);
    $answer = curl_exec($request);
    if ($answer === false) {
        $why = @filetype($socket) === 'socket' ? (is_writable($socket) ? 'the server is not there'
            : 'permission denied; see socket_mode and the group of the server') : 'there is no such socket';
        throw new RuntimeException("no answer at $socket: $why (" . curl_error($request) . ')');
    }
    $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
    if ($status !== 200) {
        // The body is one sentence that gives the reason.
        throw new RuntimeException("$status: " . trim($answer));
    }
    return $answer;
}

if (PHP_SAPI !== 'cli' || realpath($_SERVER['SCRIPT_FILENAME']) !== __FILE__) {
    return;
}
if ($argc < 4) {
    fwrite(STDERR, "usage: php thumbnail.php SOCKET IN OUT [RECIPE]\n");
    exit(2);
}
[, $socket, $in, $out] = $argv;
$recipe = $argv[4] ?? 'fit:250x250,q:90';
try {
    $image = @file_get_contents($in);
    if ($image === false) {
        throw new RuntimeException("cannot read $in");
    }
    file_put_contents($out, andon($socket, $image, $recipe));
} catch (RuntimeException $trouble) {
    fwrite(STDERR, $trouble->getMessage() . "\n");
    exit(1);
}
