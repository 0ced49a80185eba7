<?php
// Makes a thumbnail by a command, as many sites do.
require 'image.php';
$out = tempnam(sys_get_temp_dir(), 'thumb');
exec('/usr/bin/convert ' . escapeshellarg(IMAGE) . ' -resize 250x140! -quality 90 jpeg:' . escapeshellarg($out), $lines, $status);
answer($status === 0 ? file_get_contents($out) : throw new RuntimeException("convert: $status"));
unlink($out);
