"""Tests of shared caches in front of Andon: a client never gets a response that was negotiated for another client and that it does not accept."""
import random
from http.client import HTTPConnection

from nginx import Nginx, free_port
from server import Program, Server

KEYS = """listen = ["127.0.0.1:0"]
[[cache.rule]]
prefix = "/"
cache_control = "public, max-age=600"
[native]
open = true
[imgproxy]
prefix = "/imgproxy"
negotiate = true
[weserv]
prefix = "/weserv"
[imgix]
prefix = "/imgix"
[cloudflare]
prefix = "/cdn-cgi/image"
[thumbor]
prefix = "/thumbor"
allow_unsafe = true
[image_filter]
prefix = "/filter"
"""

CORS = '[cors]\norigins = ["https://shop.example"]\n'

TARGETS = [
    "/r/fit:80x80,as:auto/otter.jpg",
    "/r/fit:80x80,as:png/otter.jpg",
    "/small_light(dw=80,dh=80,of=auto)/otter.jpg",
    "/imgproxy/insecure/rs:fit:80:80/plain/local:///otter.jpg",
    "/weserv/?url=otter.jpg&w=80",
    "/imgix/otter.jpg?w=80&auto=format",
    "/cdn-cgi/image/width=80,format=auto/otter.jpg",
    "/thumbor/unsafe/80x80/otter.jpg",
    "/r/fit:80x80/missing.jpg",
]

CLIENTS = [
    "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
    "image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5",
    "image/jxl,image/webp,*/*",
    "image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
    "image/webp;q=0,image/avif;q=0.0,*/*",
    "*/*",
    "image/png",
    None,
]

ORIGINS = [None, "https://shop.example", "https://elsewhere.example"]

BEGINNINGS = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG", "image/webp": b"RIFF", "image/avif": b"\0\0\0",
              "image/jxl": b"\xff\x0a"}


def check(args, folder):
    for name, front in FRONTS.items():
        asked, reached, found = 0, 0, {}
        # HAProxy caches nothing that varies by Origin.
        for cors in (CORS, ""):
            own = folder / f"{name}-{len(cors)}"
            own.mkdir()
            with Server(args.andon, own, KEYS + cors) as server:
                port = free_port()
                with front(args, own, server.port("http"), port):
                    some, wrong = ask(port, bool(cors))
                reached += server.log.read_text().count(" GET ")
            asked, found = asked + some, found | wrong
        if reached >= asked:
            found["hits"] = f"{reached} of {asked} requests reach Andon: nothing was cached"
        yield f"{name}-cache", asked, found


def ask(port, cors):
    """Sends all requests twice, in two different orders. Returns their number and the faults."""
    every = [(target, client, origin) for target in TARGETS for client in CLIENTS for origin in ORIGINS]
    asked, found = random.Random(7).sample(every, len(every)) + random.Random(8).sample(every, len(every)), {}
    for target, client, origin in asked:
        headers = {"Accept": client, "Origin": origin}
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", target, headers={name: value for name, value in headers.items() if value})
        response = connection.getresponse()
        body, media_type = response.read(), response.headers["Content-Type"]
        allowed = response.headers["Access-Control-Allow-Origin"]
        wrong = None
        if "missing" in target:
            wrong = f"status {response.status}" if response.status != 404 else None
        elif response.status != 200 or not body.startswith(BEGINNINGS.get(media_type, b"?")):
            wrong = f"status {response.status}, {media_type}, {body[:60]}"
        elif not accepts(client, media_type):
            wrong = f"{media_type} for Accept: {client}"
        elif allowed != (origin if cors and origin == ORIGINS[1] else None) and (origin or not cors):
            wrong = f"Access-Control-Allow-Origin: {allowed} for {origin}"
        if wrong:
            found[target] = wrong
    return len(asked), found


def accepts(client, media_type):
    """Every client accepts JPEG and PNG. Other formats must be named in the Accept header."""
    if media_type in ("image/jpeg", "image/png"):
        return True
    ranges = [part.replace(" ", "").split(";q=") for part in (client or "").split(",")]
    return any(each[0] == media_type and float((each + ["1"])[1]) > 0 for each in ranges)


def nginx(_, folder, andon, port):
    return Nginx(folder, f"""proxy_cache_path {folder}/cache keys_zone=images:1m;
        server {{ listen 127.0.0.1:{port}; location / {{ proxy_cache images; proxy_pass http://127.0.0.1:{andon}; }} }}""", port)


def varnish(_, folder, andon, port):
    return Program(folder, port, ["varnishd", "-F", "-a", f"127.0.0.1:{port}", "-b", f"127.0.0.1:{andon}", "-n", folder / "varnish",
                                  "-s", "malloc,64m", "-T", "none"])


def haproxy(_, folder, andon, port):
    (folder / "haproxy.cfg").write_text(f"""defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
cache images
    total-max-size 64
    max-age 600
    process-vary on
frontend clients
    bind 127.0.0.1:{port}
    http-request cache-use images
    http-response cache-store images
    default_backend andon
backend andon
    server andon 127.0.0.1:{andon}
""")
    return Program(folder, port, ["haproxy", "-db", "-f", folder / "haproxy.cfg"])


def caddy(args, folder, andon, port):
    (folder / "Caddyfile").write_text(f"""{{
    admin off
    cache {{
        ttl 600s
    }}
}}
http://127.0.0.1:{port} {{
    cache
    reverse_proxy 127.0.0.1:{andon}
}}
""")
    return Program(folder, port, [args.caddy, "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"])


FRONTS = {"nginx": nginx, "varnish": varnish, "haproxy": haproxy, "caddy": caddy}
