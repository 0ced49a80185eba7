"""check.py ANDON S3: three real nodes that share results in a real S3 server (gofakes3), behind nginx and HAProxy as
`andon lb-config` configures them. Every URL of one photo reaches one node; nodes and store are stopped, paused and killed
under load, and no byte is wrong; a cold node makes next to nothing; a purge reaches all; twice the load that they can handle
leaves the number of results as it is."""

import collections
import concurrent.futures
import http.client
import http.server
import itertools
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from ports import PATIENCE, ask, free_port, get, until

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples" / "large"
PHOTOS = sorted(path.name for path in SAMPLES.glob("*.jpg"))
ENVIRONMENT = {
    **os.environ, "STORE_KEY": "ak", "STORE_SECRET_KEY": "sk12345678",
    "ANDON_STORE_SECRET": "a secret of all nodes", "ANDON_TOKEN": "a token of some length",
}


def main(andon, s3):
    with tempfile.TemporaryDirectory() as folder:
        site = Site(pathlib.Path(folder), andon, s3)
        try:
            site.start()
            for balancer in [Nginx(site), Haproxy(site)]:
                with balancer:
                    busiest = one_photo_reaches_one_node(site, balancer)
                    a_node_that_is_gone_or_rejects_all_costs_nothing(balancer, busiest)
                    a_node_that_hangs_costs_one_request_three_seconds(balancer, busiest)
            expected = a_cold_node_makes_next_to_nothing(site)
            for balancer in [Nginx(site), Haproxy(site)]:
                with balancer:
                    no_byte_is_wrong_whatever_breaks(site, balancer, expected)
            a_slow_store_delays_nobody(site)
            a_purge_reaches_all(site)
        finally:
            site.stop()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(pathlib.Path(folder), andon, s3, waits="")
        try:
            site.start()
            for balancer in [Nginx(site), Haproxy(site)]:
                with balancer:
                    goodput_lasts_at_twice_the_capacity(site, balancer)
        finally:
            site.stop()


def one_photo_reaches_one_node(site, balancer):
    spellings = [
        "/r/fit:{0}x{0}/{1}", "/r/fit:{0}x,as:webp/{1}", "/small_light(dw={0},dh={0})/{1}",
        "/small_light(dh={0},q=70)/{1}?x=1", "/{1}",
    ]
    took = collections.Counter()
    # One request after the other: with bounded loads a second one at the same time may be sent to the next node.
    connection = http.client.HTTPConnection("127.0.0.1", balancer.port, timeout=PATIENCE)
    for photo in PHOTOS:
        before = [len(node.served()) for node in site.nodes]
        for size in [60, 80]:
            for spelling in spellings:
                status, _, body = ask(connection, spelling.format(size, photo))
                assert status == 200, body
        until(lambda: sum(len(node.served()) for node in site.nodes) >= sum(before) + 2 * len(spellings))
        after = [len(node.served()) for node in site.nodes]
        busy = [index for index in range(3) if after[index] != before[index]]
        assert len(busy) == 1, f"{balancer}: {photo} reached nodes {busy}"
        took[busy[0]] += 1
    connection.close()
    print(f"{balancer}: {10 * len(PHOTOS)} URLs of {len(PHOTOS)} photos, each on one node: {dict(took)}")
    return site.nodes[took.most_common(1)[0][0]]


def a_node_that_is_gone_or_rejects_all_costs_nothing(balancer, node):
    for what in ["gone", "rejecting"]:
        node.stop(signal.SIGKILL)
        rejecting = Rejecting(node.port) if what == "rejecting" else None
        statuses = collections.Counter()
        for width in range(40, 60):
            for photo in PHOTOS:
                statuses[get(balancer.port, f"/r/fit:{width}x/{photo}")[0]] += 1
        if rejecting:
            assert rejecting.rejected > 0, "nothing was sent to the node that rejects"
            rejecting.stop()
        node.start()
        balancer.until_all_are_up()
        until_it_is_asked(balancer, node)
        assert set(statuses) == {200}, f"{balancer}, a node {what}: {dict(statuses)}"
        print(f"{balancer}, a node {what}: {dict(statuses)}")


def until_it_is_asked(balancer, node):
    """A node that was left out is asked again."""
    before = len(node.served())

    def is_asked():
        for photo in PHOTOS:
            assert get(balancer.port, f"/r/fit:80x/{photo}")[0] == 200
        return len(node.served()) > before
    until(is_asked)


def a_node_that_hangs_costs_one_request_three_seconds(balancer, node):
    """Before it is found, while it is known, and once it is well again."""
    slow, statuses = [], collections.Counter()
    node.running.send_signal(signal.SIGSTOP)
    # What is under way in this moment waits: nothing tells a node that hangs from an image that takes long.
    time.sleep(0.2)
    began = time.monotonic()
    try:
        for width in range(60, 74):
            for photo in PHOTOS:
                asked = time.monotonic()
                statuses[get(balancer.port, f"/r/fit:{width}x/{photo}")[0]] += 1
                if time.monotonic() - asked > 0.5:
                    slow.append(round(time.monotonic() - asked, 2))
        lasted = time.monotonic() - began
    finally:
        node.running.send_signal(signal.SIGCONT)
    print(f"{balancer}, a node hangs for {lasted:.1f} s: {dict(statuses)}, requests over half a second: {slow}")
    assert set(statuses) == {200}, statuses
    # A node that hangs for longer is asked again every ten seconds.
    assert len(slow) <= 1 + lasted // 10 and all(took <= 3 for took in slow), slow
    until_it_is_asked(balancer, node)


def a_cold_node_makes_next_to_nothing(site):
    targets = [f"/r/fit:{width}x,as:webp/{photo}" for width in range(100, 243) for photo in PHOTOS][:1000]
    warm = site.nodes[0]
    expected = {}
    for target in targets:
        status, _, expected[target] = get(warm.port, target)
        assert status == 200
    until(lambda: warm.figure("andon_store_queued_bytes") == 0)
    cold = Node(site, "cold")
    cold.start()
    made, shared = 0, 0
    for target in targets:
        status, headers, body = get(cold.port, target)
        assert status == 200 and body == expected[target], target
        made += "decode;" in headers["server-timing"]
        shared += "detail=STORE" in headers["cache-status"]
    cold.stop()
    dropped = warm.figure("andon_store_dropped_total")
    print(f"a cold node: {shared} of {len(targets)} results from the store, {made} made ({dropped:.0f} were not written)")
    assert made <= 50, made
    return expected


def no_byte_is_wrong_whatever_breaks(site, balancer, expected):
    """Bytes may differ from nothing: a result is the same wherever it was made."""
    stop, lock = threading.Event(), threading.Lock()
    seen = collections.Counter()
    targets = list(expected)
    # Of hits, in ms.
    times = []

    def p50(since):
        with lock:
            return statistics.median(times[since:])

    def client(seed):
        chance = random.Random(seed)
        while not stop.is_set():
            target = chance.choice(targets)
            began = time.monotonic()
            try:
                status, headers, body = get(balancer.port, target)
            except (OSError, http.client.HTTPException):
                with lock:
                    seen["broken off"] += 1
                continue
            with lock:
                seen[status] += 1
                if status == 200:
                    seen["wrong"] += body != expected[target]
                    if headers["cache-status"].startswith("andon; hit"):
                        times.append((time.monotonic() - began) * 1000)

    with concurrent.futures.ThreadPoolExecutor(6) as clients:
        asking = [clients.submit(client, seed) for seed in range(6)]
        try:
            # Every node has what it is asked for.
            time.sleep(10)
            start = len(times)
            time.sleep(5)
            print(f"no fault: hits p50 {p50(start):.1f} ms")
            for name, fault in [
                ("the store hangs", lambda: site.store.pause(3)),
                ("the store is down", lambda: (site.store.stop(signal.SIGKILL), time.sleep(3), site.store.start())),
                ("a node hangs", lambda: site.nodes[1].pause(2)),
                ("a node is killed", lambda: (site.nodes[2].stop(signal.SIGKILL), time.sleep(2), site.nodes[2].start())),
                ("the store is forged", site.store.forge),
            ]:
                before, start = dict(seen), len(times)
                fault()
                time.sleep(2)
                with lock:
                    during = {key: count - before.get(key, 0) for key, count in seen.items()}
                print(f"{name}: {during}, hits p50 {p50(start):.1f} ms")
        finally:
            stop.set()
        for one in asking:
            one.result()
    times.sort()
    print(f"all: {dict(seen)}; hits: p50 {times[len(times) // 2]:.1f} ms, p99 {times[len(times) * 99 // 100]:.1f} ms")
    assert seen["wrong"] == 0 and seen[200] > 0
    assert set(seen) <= {200, 503, "wrong", "broken off"}, seen
    # Replies that were under way from the node that was killed.
    assert seen["broken off"] <= 6, seen


def a_slow_store_delays_nobody(site):
    slow = Slow(site.store.port)
    node = Node(site, "slow", slow.port)
    node.start()
    slow.delay = 2
    waits = []
    for width in range(300, 340):
        for photo in PHOTOS:
            began = time.monotonic()
            status, headers, _ = get(node.port, f"/r/fit:{width}x/{photo}")
            took = (time.monotonic() - began) * 1000
            assert status == 200
            stages = [float(stage.split("dur=")[1]) for stage in headers["server-timing"].split(",")]
            assert "decode;" in headers["server-timing"], headers
            waits.append(took - sum(stages))
    waits.sort()
    node.stop()
    half, most = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
    print(f"a store that takes 2 s: {len(waits)} misses, over the time of their making: p50 {half:.1f} ms, p99 {most:.1f} ms")


def goodput_lasts_at_twice_the_capacity(site, balancer):
    """Every URL is asked for once, so that nothing but making them counts."""
    unasked = distinct_targets(balancer)
    goodputs = collections.defaultdict(list)
    capacity = 0
    # The first round only finds out how long a job takes, for the nodes and for us.
    for load in ["capacity"] + ["capacity", "twice"] * 3:
        options = ["-c", "24"] if load == "capacity" else ["-c", "1000", "-R", str(2 * capacity)]
        urls = site.folder / "urls.txt"
        urls.write_text("".join(f"{next(unasked)}\n" for _ in range(20_000)))
        asked = subprocess.run(
            [site.andon, "lab", "bench", f"http://127.0.0.1:{balancer.port}/", "-L", str(urls), "-z", "10s", "--as", "json", *options],
            capture_output=True, text=True)
        assert asked.stdout, f"andon lab bench: {asked.stderr}"
        run = json.loads(asked.stdout)["analysis"]["summaries"][0]
        goodput = run["completed"] / run["seconds"]
        goodputs[load].append(goodput)
        if load == "capacity":
            capacity = goodput
            assert not any(run["failures"].values()), run["failures"]
        else:
            failures = {name: count for name, count in run["failures"].items() if count}
            print(f"{balancer}, {2 * capacity:.0f} requests/s for a capacity of {capacity:.0f}: {goodput:.0f} results/s, {failures}")
            assert failures.keys() <= {"status"}, failures
    at_capacity, at_twice = (statistics.median(goodputs[load][-3:]) for load in ["capacity", "twice"])
    share = at_twice / at_capacity
    print(f"{balancer}, twice the capacity: {share:.2f} of the results (medians of three rounds)")
    assert share >= 0.95, share


def distinct_targets(balancer):
    """URLs of results of nearly the same cost, none of them twice."""
    quality = 60 if isinstance(balancer, Nginx) else 80
    for height in itertools.count(300):
        for width in range(300, 340):
            for photo in PHOTOS:
                yield f"/r/cover:{width}x{height},q:{quality}/{photo}"


def a_purge_reaches_all(site):
    target = f"/r/fit:77x/{PHOTOS[0]}"
    for node in site.nodes:
        get(node.port, target)
        assert "hit" in get(node.port, target)[1]["cache-status"]
    until(lambda: all(node.figure("andon_store_ready") == 1 for node in site.nodes))
    ordered = subprocess.run(
        [site.andon, "purge", "--source", f"/{PHOTOS[0]}", "--server", f"127.0.0.1:{site.nodes[0].port}"],
        env=ENVIRONMENT, capture_output=True, text=True, check=True)
    began = time.monotonic()
    assert '"reaches_nodes":true' in ordered.stdout, ordered.stdout
    until(lambda: all(node.figure("andon_store_purge_rules_active") == 1 for node in site.nodes))
    took = time.monotonic() - began
    made = sum("decode;" in get(node.port, target)[1]["server-timing"] for node in site.nodes)
    assert made >= 1, "all nodes serve what was purged"
    print(f"a purge reached all nodes after {took:.1f} s ([store] poll = \"1s\"); {made} of them made it again, the others have that")


class Site:
    def __init__(self, folder, andon, s3, waits='max_wait = "60s"\ntarget_wait = "60s"\n'):
        """`waits`: nothing is rejected where only bytes count; "": the defaults."""
        self.folder, self.andon, self.waits = folder, andon, waits
        self.store = Store(folder, s3)
        self.nodes = [Node(self, f"node{index}") for index in range(3)]

    def start(self):
        self.store.start()
        for node in self.nodes:
            node.start()

    def stop(self):
        for node in self.nodes:
            node.stop()
        self.store.stop()


class Process:
    """A server at a port of its own, which it keeps."""

    def __init__(self):
        self.port, self.running = free_port(), None

    def start(self):
        self.running = self.launch()
        until(self.is_up)

    def is_up(self):
        assert self.running.poll() is None, f"{self.running.args} ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self, number=signal.SIGTERM):
        if self.running:
            self.running.send_signal(number)
            self.running.wait()
            self.running = None

    def pause(self, seconds):
        self.running.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.running.send_signal(signal.SIGCONT)


class Store(Process):
    def __init__(self, folder, program):
        super().__init__()
        self.folder, self.program = folder / "s3", program

    def launch(self):
        self.folder.mkdir(exist_ok=True)
        command = [
            self.program, "-backend", "fs", "-fs.path", str(self.folder), "-fs.create", "-initialbucket", "results",
            "-host", f"127.0.0.1:{self.port}", "-quiet",
        ]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def forge(self):
        """Somebody writes to the bucket: a bit of each object, or all of another."""
        objects = sorted(path for path in self.folder.glob("buckets/results/**/results/**/*") if path.is_file())
        assert objects, "no objects"
        for index, path in enumerate(objects):
            data = bytearray(path.read_bytes())
            if index % 2 and data:
                data[len(data) // 2] ^= 1
            else:
                data = objects[(index + 1) % len(objects)].read_bytes()
            path.write_bytes(data)


class Node(Process):
    def __init__(self, site, name, store=None):
        super().__init__()
        self.site, self.name, self.store = site, name, store or site.store.port
        self.log = site.folder / f"{name}.log"

    def launch(self):
        config = self.site.folder / f"{self.name}.toml"
        config.write_text(f'''
listen = ["127.0.0.1:{self.port}"]
metrics.allow = "all"
{self.site.waits}
[[origin]]
fs.root = "{SAMPLES}"
[admin]
token_env = "ANDON_TOKEN"
[log]
format = "json"
[cache]
memory = "8MiB"
[store]
s3 = {{ bucket = "results", endpoint = "http://127.0.0.1:{self.store}", access_key_env = "STORE_KEY", secret_key_env = "STORE_SECRET_KEY" }}
allow = ["127.0.0.1"]
poll = "1s"
min_cost = "0s"
''')
        command = [self.site.andon, "serve", "--config", str(config)]
        log = self.log.open("ab")
        return subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT)

    def is_up(self):
        return super().is_up() and get(self.port, "/readyz")[0] == 200 and self.figure("andon_store_ready") == 1

    def served(self):
        """The images it was asked for."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        asked = [json.loads(line).get("target", "") for line in lines if line.startswith("{")]
        return [target for target in asked if ".jpg" in target]

    def figure(self, name):
        for line in get(self.port, "/metrics")[2].decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        raise AssertionError(f"no {name}")


class Balancer(Process):
    def __init__(self, site):
        super().__init__()
        self.site = site

    def __enter__(self):
        self.start()
        self.until_all_are_up()
        return self

    def __exit__(self, *_):
        self.stop()

    def __str__(self):
        return type(self).__name__

    def printed(self):
        nodes = [word for node in self.site.nodes for word in ["--node", f"127.0.0.1:{node.port}"]]
        command = [self.site.andon, "lb-config", str(self).lower(), "--port", str(self.port), *nodes]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def until_all_are_up(self):
        pass


class Nginx(Balancer):
    def launch(self):
        folder = self.site.folder / "nginx"
        folder.mkdir(exist_ok=True)
        (folder / "andon.conf").write_text(self.printed())
        (folder / "nginx.conf").write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/log; events {{ worker_connections 8192; }}\n"
            f"http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;\n"
            f"uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; include {folder}/andon.conf; }}\n")
        return subprocess.Popen(["nginx", "-p", str(folder), "-c", f"{folder}/nginx.conf"], stderr=subprocess.DEVNULL)


class Haproxy(Balancer):
    def launch(self):
        config = self.site.folder / "haproxy.cfg"
        self.state = self.site.folder / "haproxy.sock"
        config.write_text(f"global\n    stats socket {self.state}\n" + self.printed())
        return subprocess.Popen(["haproxy", "-db", "-f", str(config)], stderr=subprocess.DEVNULL)

    def until_all_are_up(self):
        def up():
            with socket.socket(socket.AF_UNIX) as stats:
                stats.connect(str(self.state))
                stats.sendall(b"show stat\n")
                text = stats.makefile().read()
            return sum(line.startswith("andon,andon") and ",UP," in line for line in text.splitlines()) == 3
        until(up)


class Slow:
    """A way to another port that takes its time with what comes back."""

    def __init__(self, port):
        self.to, self.delay = port, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.to))
            for one, other, is_back in [(client, server, False), (server, client, True)]:
                threading.Thread(target=self.copy, args=(one, other, is_back), daemon=True).start()

    def copy(self, one, other, is_back):
        try:
            while data := one.recv(65536):
                if is_back:
                    time.sleep(self.delay)
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Rejecting:
    """A node that answers 503 to everything but health checks."""

    def __init__(self, port):
        outer = self
        self.rejected = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                healthy = self.path == "/readyz"
                outer.rejected += not healthy
                self.send_response(200 if healthy else 503)
                self.send_header("Content-Length", "0")
                self.send_header("Connection", "close")
                self.end_headers()

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    main(*sys.argv[1:])
