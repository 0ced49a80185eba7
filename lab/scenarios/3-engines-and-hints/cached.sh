#!/bin/sh
# nginx with its cache in front of one worker of ImageMagick.
perl "$1/engine.pl" "unix:$1/engine.sock" 1 imagemagick "$1/pictures" &
while ! [ -S "$1/engine.sock" ]; do
    sleep 0.05
done
chmod a+rw "$1/engine.sock"
exec /usr/sbin/nginx -e stderr -c "$1/nginx.conf"
