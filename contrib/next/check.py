"""check.py ANDON WORK [PHOTOS]: an unmodified Next.js application behind nginx, whose images three nodes of Andon make, beside
`next start` with its own optimizer.

The application is built by `next build`; `andon import` writes the nodes' configuration from what that leaves, and `andon
lb-config` nginx's. Every URL in the `srcset` of the page is asked for twice at the same moment, in an order drawn at random, with
nothing kept from before; then once more, now kept. Rounds alternate which of the two is asked first. Medians of the rounds are
printed, and the raw figures as JSON into WORK. Fails if an answer is not an image, if the fleet makes a variant more than once, or
if Andon takes longer for a new variant, at the median, or more memory than Next.js does."""

import collections
import concurrent.futures
import html
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "nodes"))
from ports import PATIENCE, free_port, get, until  # noqa: E402
ROUNDS = 3
CLIENTS = 8
NODES = 3
# What Chromium sends for an <img>.
ACCEPT = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"


def main(andon, work, photos=ROOT / "samples" / "large"):
    # Commands are run in the folder of the application.
    andon, work = pathlib.Path(andon).resolve(), pathlib.Path(work).resolve()
    app = build(work, pathlib.Path(photos).resolve())
    config = app / "andon.toml"
    config.write_text(printed(andon, "import", app / ".next" / "required-server-files.json"))
    subprocess.run([andon, "config", "check", config], cwd=app, check=True, stdout=subprocess.DEVNULL)
    rounds = []
    for number in range(ROUNDS):
        sides = [Fleet(andon, app, config, work), Alone(app)]
        found = {}
        for side in sides if number % 2 == 0 else reversed(sides):
            found[side.name] = measured(side)
        rounds.append(found)
        print(f"round {number + 1}: {json.dumps(found)}", flush=True)
    (work / "rounds.json").write_text(json.dumps(rounds, indent=1) + "\n")
    judge(rounds)


def build(work, photos):
    """Installs Next.js, lays the application out, and builds it as its users do."""
    app = work / "app"
    shutil.copytree(HERE / "app", app, dirs_exist_ok=True)
    shutil.rmtree(app / "public", ignore_errors=True)
    shutil.copytree(photos, app / "public" / "photos", ignore=lambda folder, names: [n for n in names if not n.lower().endswith((".jpg", ".jpeg"))])
    environment = {**os.environ, "NEXT_TELEMETRY_DISABLED": "1"}
    if not (app / "node_modules" / "next").exists():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=app, env=environment, check=True)
    subprocess.run(["npx", "next", "build"], cwd=app, env=environment, check=True, stdout=subprocess.DEVNULL)
    return app


def measured(side):
    """Starts a side with nothing kept, asks it for everything, and stops it."""
    with side:
        urls = srcset(side.port)
        random.Random(1).shuffle(urls)
        with Memory(side.processes()) as memory:
            # Two clients want each variant in the same moment: one may be made.
            cold = asked(side.port, [url for url in urls for _ in range(2)])
            warm = asked(side.port, urls)
        figures = {
            "variants": len(urls), "statuses": collections.Counter(str(status) for status, _, _, _ in cold + warm),
            "types": collections.Counter(kind for _, kind, _, _ in cold), "bytes": sum(size for _, _, size, _ in cold) // 2,
            "cold_p50_ms": percentile(cold, 50), "cold_p99_ms": percentile(cold, 99), "warm_p50_ms": percentile(warm, 50),
            "warm_p99_ms": percentile(warm, 99), "memory_mib": round(memory.most / 2**20, 1), **side.counts(),
        }
    return figures


def srcset(port):
    """The distinct image URLs of the page."""
    status, _, page = get(port, "/")
    assert status == 200, f"the page: {status}"
    found = [html.unescape(url) for url in re.findall(r'/_next/image\?[^" ]+', page.decode())]
    urls = sorted({url for url in found if "\\" not in url})
    assert urls, "the page has no URL of an image"
    return urls


def asked(port, urls):
    """Asks for all, CLIENTS at a time. Returns status, media type, bytes and seconds of each."""
    mine = threading.local()

    def one(url):
        if not hasattr(mine, "connection"):
            mine.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        began = time.perf_counter()
        mine.connection.request("GET", url, headers={"Accept": ACCEPT})
        reply = mine.connection.getresponse()
        body = reply.read()
        took = time.perf_counter() - began
        assert reply.status == 200, f"{url}: {reply.status} {body[:200]}"
        return reply.status, reply.getheader("content-type"), len(body), took

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(one, urls))


def percentile(answers, share):
    took = sorted(seconds for _, _, _, seconds in answers)
    return round(1000 * took[min(len(took) - 1, len(took) * share // 100)], 1)


def judge(rounds):
    def median(side, name):
        return statistics.median(found[side][name] for found in rounds)

    wrong = []
    print(f"\n{'median of ' + str(len(rounds)) + ' rounds':24} {'three nodes':>12} {'next start':>12} {'ratio':>8}")
    for name in ["cold_p50_ms", "cold_p99_ms", "warm_p50_ms", "warm_p99_ms", "memory_mib", "bytes"]:
        ours, theirs = median("andon", name), median("next", name)
        print(f"{name:24} {ours:12} {theirs:12} {ours / theirs:8.3f}")
        if name in ["cold_p50_ms", "memory_mib"] and ours > theirs:
            wrong.append(f"{name}: {ours} is more than {theirs}")
    for found in rounds:
        # Fewer: images are not enlarged, so that widths beyond a photo's own are one result.
        if not 0 < found["andon"]["made"] <= found["andon"]["variants"]:
            wrong.append(f"{found['andon']['made']} results were made of {found['andon']['variants']} variants")
    sys.exit("\n".join(wrong) or None)


class Side:
    """A server that is asked for images, on `port`."""

    def __enter__(self):
        self.running = []
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()

    def launch(self, command, **options):
        process = subprocess.Popen(
            [str(word) for word in command], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.running.append(process)
        return process

    def launch_next(self, app, port):
        # What the optimizer keeps on disk.
        shutil.rmtree(app / ".next" / "cache" / "images", ignore_errors=True)
        command = ["node", app / "node_modules" / "next" / "dist" / "bin" / "next", "start", "-H", "127.0.0.1", "-p", port]
        process = self.launch(command, cwd=app, env={**os.environ, "NEXT_TELEMETRY_DISABLED": "1", "NODE_ENV": "production"})
        until(lambda: get(port, "/")[0] == 200)
        return process

    def counts(self):
        return {}


class Alone(Side):
    """`next start` with its own optimizer."""

    name = "next"

    def __init__(self, app):
        self.app = app

    def start(self):
        self.port = free_port()
        self.server = self.launch_next(self.app, self.port)

    def processes(self):
        return [self.server.pid]


class Fleet(Side):
    """nginx, which sends pages to `next start` and images to three nodes, all variants of one to the same."""

    name = "andon"

    def __init__(self, andon, app, config, work):
        self.andon, self.app, self.config, self.work = andon, app, config, work

    def start(self):
        pages, self.port = free_port(), free_port()
        self.launch_next(self.app, pages)
        self.nodes = []
        ports = [free_port() for _ in range(NODES)]
        for port in ports:
            metrics = free_port()
            config = self.config.with_name(f"node-{port}.toml")
            config.write_text(f'{self.config.read_text()}\n[metrics]\nlisten = "127.0.0.1:{metrics}"\n')
            node = self.launch([self.andon, "serve", "--config", config, "--listen", f"127.0.0.1:{port}"], cwd=self.app)
            self.nodes.append((node, metrics))
            until(lambda port=port: get(port, "/readyz")[0] == 200)
        folder = self.work / "nginx"
        folder.mkdir(exist_ok=True)
        named = [word for port in ports for word in ["--node", f"127.0.0.1:{port}"]]
        balancer = printed(self.andon, "lb-config", "nginx", "--config", self.config, "--port", self.port, *named)
        images, pages_too = "    location / {\n", f"    location / {{\n        proxy_pass http://127.0.0.1:{pages};\n    }}\n"
        assert balancer.count(images) == 1
        balancer = balancer.replace(images, pages_too + "    location = /_next/image {\n")
        (folder / "nginx.conf").write_text(
            f"daemon off; worker_processes 2; pid {folder}/pid; error_log {folder}/log; events {{ worker_connections 1024; }}\n"
            f"http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;\n"
            f"uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n{balancer}}}\n")
        self.launch(["nginx", "-p", folder, "-c", folder / "nginx.conf"])
        until(lambda: get(self.port, "/")[0] == 200)

    def processes(self):
        return [node.pid for node, _ in self.nodes]

    def counts(self):
        made = [int(figure(port, 'andon_admission_total{outcome="done"}')) for _, port in self.nodes]
        return {"made": sum(made), "made_by_node": made}


class Memory:
    """The most that processes and their children had in memory at a time: proportional set size, every 50 ms."""

    def __init__(self, processes):
        self.processes, self.most, self.ends = processes, 0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()

    def watch(self):
        while not self.ends.wait(0.05):
            self.most = max(self.most, sum(map(in_memory, self.processes)))


def in_memory(process):
    """Bytes of a process and its descendants."""
    total = 0
    try:
        for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += 1024 * int(line.split()[1])
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                total += in_memory(int(child))
    except OSError:
        pass
    return total


def figure(port, name):
    lines = get(port, "/metrics")[2].decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def printed(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
