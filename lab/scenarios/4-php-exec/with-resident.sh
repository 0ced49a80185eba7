#!/bin/sh
# Starts nginx as the resident server, then Apache.
/usr/sbin/nginx -e stderr -c "$1/resident.conf"
exec /usr/sbin/apache2 -DFOREGROUND -f "$1/apache.conf"
