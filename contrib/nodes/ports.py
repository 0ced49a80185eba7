"""Ports of this machine: a free one, what a server there answers, and waiting until it does. For the checks of contrib/."""

import http.client
import socket
import time

# Seconds until something that has to happen has failed to.
PATIENCE = 120


def get(port, target):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        return ask(connection, target)
    finally:
        connection.close()


def ask(connection, target):
    connection.request("GET", target)
    reply = connection.getresponse()
    return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(holds):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if holds():
                return
        except OSError:
            pass
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
