<?php
// A thumbnail by a command, as so many sites make it.
require 'picture.php';
$out = tempnam(sys_get_temp_dir(), 'thumb');
exec('/usr/bin/convert ' . escapeshellarg(PICTURE) . ' -resize 250x140! -quality 90 jpeg:' . escapeshellarg($out), $said, $status);
answer($status === 0 ? file_get_contents($out) : throw new RuntimeException("convert: $status"));
unlink($out);
