"""Tests the examples of docs/behind-nginx.md with a real nginx."""
import re
from http.client import HTTPConnection
from socket import AF_INET, SOCK_STREAM, socket

from server import ROOT, Program, Server

SIZES = range(60, 100)


def check(args, folder):
    page = (ROOT / "docs/behind-nginx.md").read_text()
    one, script, down, many = re.findall(r"^```nginx\n(.*?)^```", page, re.M | re.S)
    keys, rules = re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S)
    # The server's own folder is at `/`.
    keys, origins = re.subn(r"^\[\[origin\]\].*?\n\n", "", keys, flags=re.M | re.S)
    assert origins == 1
    yield "one-machine", *one_machine(args, folder, one, script, keys + rules)
    yield "signed", *signed(args, folder, one, script, keys + rules)
    yield "down", *without_andon(folder, one, script, down)
    yield "several-machines", *several_machines(args, folder, many)


# A location for the site's own images, which must not match Andon's URLs.
STATIC = r"location ~* \.(jpe?g|png|gif|css|js)$ { expires 30d; }"


def at(port, example, server):
    """Returns the example for a port, with this server as its backend and a location for static files of the site."""
    put = example.replace("127.0.0.1:8080", f"127.0.0.1:{server.port('http')}").replace("listen 80;", f"listen 127.0.0.1:{port};\n{STATIC}")
    assert put.count(STATIC) == 1 and "8080" not in put
    return put


def one_machine(args, folder, example, script, keys):
    """Checks that images arrive unchanged, that Andon's log names nginx's client, and that a script's URLs are answered."""
    port, found = free_port(), {}
    with_script = example.rstrip().removesuffix("}") + script + "}"
    with Server(args.andon, folder, keys.replace("127.0.0.1:8080", "127.0.0.1:0")) as server, Nginx(folder, at(port, with_script, server), port):
        (folder / "pictures/an otter, 50% and no more.jpg").write_bytes((folder / "pictures/otter.jpg").read_bytes())
        targets = {
            "/r/fit:80x80/otter.jpg": "/r/fit:80x80/otter.jpg",
            "/r/fit:80x80,as:webp/%6Ftter.jpg": "/r/fit:80x80,as:webp/%6Ftter.jpg",
            "/small_light(dw=80,dh=80)/otter.jpg": "/small_light(dw=80,dh=80)/otter.jpg",
            "/thumb/80x60/otter.jpg": "/r/cover:80x60/otter.jpg",
            "/resize.php?src=otter.jpg&w=80&h=80": "/r/fit:80x80/otter.jpg",
            "/resize.php?w=80&src=%2Fan+otter%2C+50%25+and+no+more.jpg": "/r/fit:80x/an%20otter,%2050%25%20and%20no%20more.jpg",
        }
        for target, same in targets.items():
            through, direct = get(port, target, "127.0.0.7"), get(server.port("http"), same)
            if through != direct or through[0] != 200:
                found[target] = f"{through[0]} by nginx, {direct[0]} without, or other bytes"
        for outside in "/otter.jpg", "/readyz", "/_andon/play", "/metrics":
            if get(port, outside)[0] != 404 or f" {outside} " in server.log.read_text():
                found["location"] = f"{outside}, which is outside the location, reaches Andon"
    by_client = server.log.read_text().count(" 127.0.0.7 GET ")
    if by_client != len(targets):
        found["client"] = f"{by_client} of {len(targets)} requests are logged with nginx's client"
    return len(targets) + 2, found


def signed(args, folder, example, script, keys):
    """Checks that with a key, the rules of the page permit a script's URLs and nothing else."""
    port, found = free_port(), {}
    example = example.rstrip().removesuffix("}") + script + "}"
    key = '[signing]\nkeys = ["0123456789abcdef0123456789abcdef"]\n'
    text = keys.replace("127.0.0.1:8080", "127.0.0.1:0") + key
    targets = {"/thumb/80x60/otter.jpg": 200, "/resize.php?src=otter.jpg&w=80": 200, "/r/cover:80x60/otter.jpg": 403}
    with Server(args.andon, folder, text) as server, Nginx(folder, at(port, example, server), port):
        for target, status in targets.items():
            if (seen := get(port, target)[0]) != status:
                found[target] = f"{seen}, not {status}"
    return len(targets), found


def without_andon(folder, example, script, down):
    """Checks that nginx sends originals instead of small images while no server is behind it."""
    port, found = free_port(), {}
    script = script.replace("; }", "; error_page 502 504 = @original; }", 1)
    example, replaced = re.subn(r" *location \^~ /r/ .*\n", "", example)
    assert replaced == 1 and "error_page" in script
    example = (example.rstrip().removesuffix("}") + script + down + "}").replace("/srv/pictures", str(folder / "pictures"))
    example = example.replace("127.0.0.1:8080", f"127.0.0.1:{free_port()}").replace("listen 80;", f"listen 127.0.0.1:{port};\n{STATIC}")
    targets = ("/r/fit:80x80/otter.jpg", "/thumb/80x60/otter.jpg", "/r/fit:80x80,as:auto/%6Ftter.jpg")
    with Nginx(folder, example, port):
        original = (folder / "pictures/otter.jpg").read_bytes()
        (folder / "pictures/config.php").write_text("<?php $password = 'secret';")
        if (seen := get(port, "/r/x/config.php")[0]) != 404:
            found["/r/x/config.php"] = f"{seen}: what is no image is sent"
        for target in targets:
            if (seen := get(port, target)) != (200, original):
                found[target] = f"{seen[0]}, or not the original"
    return len(targets), found


def several_machines(args, folder, example):
    """Checks that all sizes of an image reach the same machine, and that different images reach both."""
    port, found = free_port(), {}
    with Server(args.andon, folder, 'listen = ["127.0.0.1:0"]', "a") as a, \
            Server(args.andon, folder, 'listen = ["127.0.0.1:0"]', "b") as b:
        sources = [f"picture-{number}.jpg" for number in range(8)]
        for source in sources:
            (folder / "pictures" / source).write_bytes((folder / "pictures/otter.jpg").read_bytes())
        for address, server in (("10.0.0.1:8080", a), ("10.0.0.2:8080", b)):
            assert address in example
            example = example.replace(address, f"127.0.0.1:{server.port('http')}")
        site = f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://andon; }} }}"
        with Nginx(folder, example + site, port):
            for source in sources:
                for size in SIZES:
                    for target in (f"/r/fit:{size}x{size}/{source}", f"/small_light(dw={size})/{source}"):
                        status, _ = get(port, target)
                        if status != 200:
                            found[target] = str(status)
    machines = {source: {server for server in (a, b) if source in server.log.read_text()} for source in sources}
    for source, reached in machines.items():
        if len(reached) != 1:
            found[source] = f"reaches {len(reached)} machines"
    if len(set.union(*machines.values())) != 2:
        found["balance"] = "one machine gets everything"
    return 2 * len(sources) * len(SIZES), found


class Nginx(Program):
    """nginx in the foreground, with a folder of its own."""

    def __init__(self, folder, http, port):
        temporary = "".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config = folder / "nginx.conf"
        config.write_text(f"user root; daemon off; pid {folder}/nginx.pid; error_log stderr;\n"
                          f"events {{}}\nhttp {{ access_log off; {temporary}\n{http}\n}}\n")
        super().__init__(folder, port, ["nginx", "-e", "stderr", "-c", config])


def get(port, target, source="127.0.0.1"):
    connection = HTTPConnection("127.0.0.1", port, timeout=30, source_address=(source, 0))
    connection.request("GET", target)
    response = connection.getresponse()
    return response.status, response.read()


def free_port():
    """Returns a port that was free a moment ago."""
    with socket(AF_INET, SOCK_STREAM) as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]
