<?php
// Shared by the three ways to read a file: reads the same small file 100 times within one request (the report: 10,000 times),
// and responds with the number of bytes and their checksum.
const FILE = __DIR__ . '/../data/note.txt';

function repeat(callable $read): void
{
    $length = 0;
    $whole = hash_init('crc32b');
    for ($i = 0; $i < 100; $i++) {
        $text = $read();
        $length += strlen($text);
        hash_update($whole, $text);
    }
    header('Content-Type: text/plain');
    echo "$length bytes, ", hash_final($whole), "\n";
}
