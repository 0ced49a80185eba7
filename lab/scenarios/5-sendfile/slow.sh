#!/bin/sh
# Starts nginx on a FUSE file system (bindfs) that reads at most RATE bytes per second and caches nothing.
# Usage: slow.sh WORK RATE
set -eu
cd "$1"
[ -w /dev/fuse ] || { echo "skipped: this scenario needs FUSE, and /dev/fuse is not there or not ours to use" >&2; exit 1; }
command -v bindfs >/dev/null || { echo "skipped: bindfs is not installed (./dev lab-deps)" >&2; exit 1; }
mkdir -p slow
# In the foreground, so that its CPU time counts as the server's. With direct_io the kernel caches no pages of the file.
bindfs -f -o direct_io,allow_other --read-rate="$2" site slow &
tries=0
until [ -e slow/photo.jpg ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "skipped: FUSE is there, but nothing may be mounted here" >&2; exit 1; }
    sleep 0.05
done
exec /usr/sbin/nginx -e stderr -c "$1/nginx.conf"
