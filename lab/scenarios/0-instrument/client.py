#!/usr/bin/env python3
"""Compares the laboratory's client with wrk and ab: the same servers, the same connections, in turns.

    client.py OUTPUT.json [SECONDS] [ROUNDS]    measures, writes OUTPUT.json, prints the table
    client.py --table OUTPUT.json               prints the table again

Four servers, each with ten kept connections: a responder that does nothing (`andon-lab null`), nginx with a file of
1 KB, with one of 40 KB, and with an image that it resizes for every request. The first three are about as fast as a
client, so they show a client's limit and its cost. The last one is slow, so there the clients should agree.

Every round runs every client against each server, in an order that rotates. The file has all rounds; the table has the
median of each figure with the smallest and the largest round. The CPU of wrk and ab is that of the whole process. The
CPU of `andon-lab bench` is what it reports for its client's threads, since the process also measures its own limit and
writes a report (`cpu_us_per_request` has all of it).

It needs `andon`, `wrk`, `ab` and `nginx` in PATH.
"""

import json
import os
import platform
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

CONNECTIONS = 10
IMAGE = os.path.join(os.path.dirname(__file__), "../../../samples/jpeg/444.jpg")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--table":
        with open(sys.argv[2]) as file:
            print(table(json.load(file)["runs"]))
        return
    output = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    os.environ["PATH"] += ":/usr/sbin"
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)  # nginx's worker runs as another user
        servers = [null(), nginx(work)]
        try:
            targets = [(name, url) for server, urls in servers for name, url in urls]
            runs = measure(targets, seconds, rounds)
        finally:
            for server, _ in servers:
                server.terminate()
            for server, _ in servers:
                server.wait()
    record = {
        "what": "the laboratory's client beside wrk and ab",
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {"kernel": platform.release(), "cpus": os.cpu_count(), "cpu": processor()},
        "versions": versions(),
        "connections": CONNECTIONS,
        "seconds": seconds,
        "rounds": rounds,
        "runs": runs,
    }
    with open(output, "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    print(table(runs))


def null():
    """Starts a responder that does no work. Returns its process, and its name and URL."""
    server = subprocess.Popen(["andon-lab", "null", "--body", "1024"], stdout=subprocess.PIPE, text=True)
    return server, [("null responder, 1 KB", server.stdout.readline().strip())]


def nginx(work):
    """Starts nginx with two files and an image that it resizes for every request."""
    os.mkdir(f"{work}/site")
    for name, size in [("small", 1024), ("large", 40 * 1024)]:
        with open(f"{work}/site/{name}", "wb") as file:
            file.write(os.urandom(size))
    shutil.copy(IMAGE, f"{work}/site/image.jpg")
    port = free_port()
    with open(f"{work}/nginx.conf", "w") as file:
        file.write(f"""
load_module /usr/lib/nginx/modules/ngx_http_image_filter_module.so;
daemon off; worker_processes 1; pid {work}/nginx.pid; error_log stderr error;
events {{ worker_connections 256; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
    types {{ image/jpeg jpg; }}
    server {{
        listen 127.0.0.1:{port}; root {work}/site;
        location = /image.jpg {{ image_filter resize 100 100; }}
    }}
}}
""")
    server = subprocess.Popen(["nginx", "-e", "stderr", "-c", f"{work}/nginx.conf"])
    wait(port)
    base = f"http://127.0.0.1:{port}"
    return server, [
        ("nginx, file of 1 KB", f"{base}/small"),
        ("nginx, file of 40 KB", f"{base}/large"),
        ("nginx, resizing", f"{base}/image.jpg"),
    ]


def measure(targets, seconds, rounds):
    """Runs every client against every target, in turns. The first round warms up and does not count."""
    clients = [("andon-lab bench", ask_andon), ("wrk", ask_wrk), ("ab", ask_ab)]
    runs = []
    for number in range(-1, rounds):
        for target, url in targets:
            for at in range(len(clients)):
                client, ask = clients[(at + number) % len(clients)]
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                figures = ask(url, seconds if number >= 0 else 0.5)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                figures["cpu_us_per_request"] = cpu / max(figures["requests"], 1) * 1e6
                if number >= 0:
                    runs.append({"round": number, "server": target, "client": client, **figures})
    return runs


def ask_andon(url, seconds):
    text = output(["andon-lab", "bench", url, f"-c{CONNECTIONS}", f"-z{seconds}s", "--as", "json"])
    summary = json.loads(text)["analysis"]["summaries"][0]
    metrics = {it["metric"]: it["mean"] for it in summary["metrics"]}
    return {
        "requests": summary["completed"],
        "failed": sum(summary["failures"].values()),
        "rate": summary["completed"] / summary["seconds"],
        "p50_ms": metrics["p50"] * 1e3,
        # The report has no p99 below a thousand requests.
        "p99_ms": metrics["p99"] * 1e3 if "p99" in metrics else None,
        "client_busy": summary["client"]["busy"],
        "client_limit": summary["client"]["ceiling"],
    }


def ask_wrk(url, seconds):
    text = output(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{whole(seconds)}s", "--latency", url])
    unit = {"us": 1e-3, "ms": 1.0, "s": 1e3}

    def within(percent):
        value, name = re.search(rf"^\s+{percent}%\s+([\d.]+)([a-z]+)$", text, re.M).groups()
        return float(value) * unit[name]

    return {
        "requests": int(find(r"(\d+) requests in", text)),
        "failed": int(find(r"Non-2xx or 3xx responses: (\d+)", text, "0")),
        "rate": float(find(r"Requests/sec:\s+([\d.]+)", text)),
        "p50_ms": within(50),
        "p99_ms": within(99),
    }


def ask_ab(url, seconds):
    text = output(["ab", "-q", "-k", f"-c{CONNECTIONS}", f"-t{whole(seconds)}", "-n100000000", url])
    return {
        "requests": int(find(r"Complete requests:\s+(\d+)", text)),
        "failed": int(find(r"Failed requests:\s+(\d+)", text)),
        "rate": float(find(r"Requests per second:\s+([\d.]+)", text)),
        # ab prints whole milliseconds only.
        "p50_ms": float(find(r"^\s+50%\s+(\d+)", text)),
        "p99_ms": float(find(r"^\s+99%\s+(\d+)", text)),
    }


def whole(seconds):
    """Rounds to whole seconds, as wrk and ab accept no others."""
    return max(round(seconds), 1)


def output(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def find(pattern, text, default=None):
    match = re.search(pattern, text, re.M)
    if match:
        return match.group(1)
    if default is None:
        raise SystemExit(f"nothing like {pattern} in\n{text}")
    return default


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("a server did not start")


def processor():
    with open("/proc/cpuinfo") as file:
        return find(r"^model name\s*:\s*(.+)$", file.read(), "unknown")


def versions():
    def first_line(*command):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.stdout.splitlines()[0] if result.stdout else ""

    return {
        "andon": first_line("andon", "--version"),
        "wrk": first_line("wrk", "--version"),
        "ab": first_line("ab", "-V"),
        "nginx": first_line("nginx", "-v"),
    }


def table(runs):
    """Medians with the smallest and the largest round, as Markdown."""
    lines = [
        "| server | client | requests/s | p50 ms | p99 ms | client CPU, µs/request |",
        "|---|---|---|---|---|---|",
    ]
    pairs = dict.fromkeys((run["server"], run["client"]) for run in runs)
    for server, client in pairs:
        pair_runs = [run for run in runs if (run["server"], run["client"]) == (server, client)]
        cells = [summary([run[key] for run in pair_runs]) for key in ("rate", "p50_ms", "p99_ms")]
        cells.append(summary([client_cpu(run) for run in pair_runs]))
        lines.append(f"| {server} | {client} | " + " | ".join(cells) + " |")
    failed = sum(run["failed"] for run in runs)
    lines.append(f"\n{len(runs)} runs, {failed} failed requests.")
    return "\n".join(lines)


def client_cpu(run):
    """Returns the client's CPU time per request in µs."""
    if "client_busy" in run:
        return run["client_busy"] / run["rate"] * 1e6
    return run["cpu_us_per_request"]


def summary(values):
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    return f"{short(statistics.median(values))} ({short(min(values))} – {short(max(values))})"


def short(value):
    """Formats with three significant digits."""
    if value >= 1000:
        return f"{round(value, 2 - len(str(int(value)))):,.0f}"
    return f"{value:.3g}"


if __name__ == "__main__":
    main()
