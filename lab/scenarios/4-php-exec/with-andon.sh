#!/bin/sh
# Starts Andon as the resident server, then Apache.
andon serve --config "$1/andon.toml" &
while ! [ -S "$1/andon.sock" ]; do
    sleep 0.05
done
exec /usr/sbin/apache2 -DFOREGROUND -f "$1/apache.conf"
