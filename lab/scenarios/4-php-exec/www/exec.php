<?php
// Runs one command per read: a shell and a cat, with their pipes and waits.
require 'read.php';
repeat(function (): string {
    exec('cat ' . escapeshellarg(FILE), $lines);
    return implode("\n", $lines) . "\n";
});
