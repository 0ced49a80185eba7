#!/bin/sh
# Apache, and beside it nginx as the resident server.
/usr/sbin/nginx -e stderr -c "$1/resident.conf"
exec /usr/sbin/apache2 -DFOREGROUND -f "$1/apache.conf"
