"""test-image.py BUNDLE IMAGES VERSION: tests the unpacked image with an OCI runtime (runc)."""

import functools
import http.client
import http.server
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

TARGET = "/small_light(dw=250,dh=250,da=l,q=95,jpeghint=y)/otter.jpg"
CONFIG = """
listen = ["127.0.0.1:{port}"]
[[origin]]
fs.root = "/pictures"
[[origin]]
prefix = "/far"
http.base = "http://pictures.example:{far}"
allow = ["127.0.0.0/8"]
"""


def main(bundle, images, version):
    bundle = pathlib.Path(bundle)
    config = json.loads((bundle / "config.json").read_text())
    process = config["process"]
    assert (process["user"]["uid"], process["user"]["gid"]) == (65532, 65532), process["user"]
    assert process["args"] == ["/usr/bin/andon", "serve", "--config", "/etc/andon/andon.toml"], process["args"]

    # The settings of a careful operator.
    config["root"]["readonly"] = True
    process["capabilities"] = {}
    process["noNewPrivileges"] = True
    process["terminal"] = False
    linux = config["linux"]
    linux["namespaces"] = [space for space in linux["namespaces"] if space["type"] not in ("network", "user")]
    far = web_server(images)
    port = free_port()
    mounted = {
        "andon.toml": ("/etc/andon/andon.toml", CONFIG.format(port=port, far=far)),
        "hosts": ("/etc/hosts", "127.0.0.1 pictures.example\n"),
    }
    mount(config, pathlib.Path(images).resolve(), "/pictures")
    for name, (place, text) in mounted.items():
        (bundle / name).write_text(text)
        (bundle / name).chmod(0o644)
        mount(config, (bundle / name).resolve(), place)

    binary = bundle / "rootfs/usr/bin/andon"
    expected = subprocess.run(
        [binary, "render", TARGET, "--root", images, "-o", "-"], stdout=subprocess.PIPE, check=True).stdout

    print("test:", run_once(config, bundle, ["/usr/bin/andon", "--version"], f"andon {version}"))
    print("test:", run_once(config, bundle, ["/usr/bin/andon", "convert", "fit:9x9", "/pictures/otter.jpg", "-o", "/"],
                            "Read-only file system"))
    print("test:", run_once(config, bundle, ["/usr/bin/andon", "config", "show", "/etc/andon/andon.toml"], "/pictures"))
    with Container(config, bundle) as container:
        container.wait(port)
        status = pathlib.Path(f"/proc/{container.pid()}/status").read_text()
        assert re.search(r"^Uid:\t65532\t65532\t65532\t65532$", status, re.M), status
        assert re.search(r"^CapEff:\t0+$", status, re.M), status
        for target in (TARGET, TARGET.replace("/otter", "/far/otter")):
            body = get(port, target)
            assert body == expected, f"{target}: {len(body)} bytes instead of {len(expected)}, or others"
            print(f"test: {target}: {len(body)} bytes, those that the binary makes by itself")
        subprocess.run([binary, "healthcheck", f"http://127.0.0.1:{port}"], check=True)
        print("test: andon healthcheck asks it")
        container.stop()
    print("test: user 65532, no capabilities, read-only root; SIGTERM ends it with 0")


def mount(config, source, place):
    config["mounts"].append(
        {"type": "none", "source": str(source), "destination": place, "options": ["rbind", "ro", "nosuid", "nodev"]})


def web_server(folder):
    """Starts a web server for the folder and returns its port. Andon uses it as an origin that is found by its name."""
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(port, target):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", target)
    reply = connection.getresponse()
    body = reply.read()
    assert reply.status == 200, (target, reply.status, body[:200])
    return body


def run_once(config, bundle, args, expected):
    """Runs a container and returns the line of its output that contains the expected words."""
    with Container(config, bundle, args) as container:
        output = container.process.communicate(timeout=60)[0].decode()
    lines = [line for line in output.splitlines() if expected in line]
    assert lines, f"{args}: no {expected!r} in {output}"
    return f"{' '.join(args)}: {lines[0].strip()}"


class Container:
    """A container that is removed at the end in any case."""

    def __init__(self, config, bundle, args=None):
        config = {**config, "process": {**config["process"], "args": args or config["process"]["args"]}}
        (bundle / "config.json").write_text(json.dumps(config))
        self.name = f"andon-image-test-{free_port()}"
        self.process = subprocess.Popen(["runc", "run", "--bundle", bundle, self.name],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["runc", "delete", "--force", self.name], stderr=subprocess.DEVNULL)
        self.process.wait(timeout=60)

    def pid(self):
        state = subprocess.run(["runc", "state", self.name], stdout=subprocess.PIPE, check=True)
        return json.loads(state.stdout)["pid"]

    def wait(self, port):
        """Waits until the server is ready."""
        for _ in range(400):
            assert self.process.poll() is None, self.process.stdout.read().decode()
            try:
                return get(port, "/readyz")
            except (OSError, AssertionError):
                time.sleep(0.05)
        raise TimeoutError("the server in the image does not answer")

    def stop(self):
        subprocess.run(["runc", "kill", self.name, "TERM"], check=True)
        code = self.process.wait(timeout=60)
        assert code == 0, f"SIGTERM ended it with {code}: {self.process.stdout.read().decode()}"


main(*sys.argv[1:])
