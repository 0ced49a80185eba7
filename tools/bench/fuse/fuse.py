"""fuse.py PLANTED: measures how a worker process that dies affects other requests.

A server with planted codecs (tools/planted) gets files whose reader aborts, loops, allocates without end, overflows its stack or
panics. Each fault is repeated many times, with different bytes each time, while other clients request images with a known
result. The test fails if one of these responses is lost or wrong, if the job after a death is answered more than 100 ms later, or if
memory, descriptors or processes have grown at the end.

Then every image of ../shared/cases/hostile, if that folder exists, is requested from a server without guards: it draws SVGs
without any of Andon's guards, and the limits for AVIF, TIFF and ICO are too high to have an effect."""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Faults that end the worker at once are repeated often, those that first use up their time or memory less often.
FAULTS = {"abort": 1.0, "panic": 1.0, "overflow": 1.0, "exit": 1.0, "allocate": 0.1, "loop": 0.02}
# Maximum time in seconds until the next job is answered after a worker has died.
READY = 0.1
GOOD = ["/r/fit:300x300,as:jpeg/large/ocean-waves.jpg", "/r/fit:200x200,as:webp/png/alpha.png", "/r/as:png/good.planted"]


# Limits that no file can reach, except those that are enforced on a worker process.
UNLIMITED = """[limits]
memory = "3GiB"
cpu = "1h"
pixels = 4_000_000_000
side = 1_000_000
frames = 1_000_000
animation_pixels = 4_000_000_000_000
scans = 1_000_000
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planted", help="the program tools/planted, built")
    parser.add_argument("--times", type=int, default=1000, metavar="N", help="deaths of each kind (looping: a fiftieth) [1000]")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="write the figures there, as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = run(args, pathlib.Path(folder), "", measured)
    with tempfile.TemporaryDirectory() as folder:
        others = run(args, pathlib.Path(folder), UNLIMITED, unguarded)
    figures["faults"] |= others["faults"]
    figures["others"] += others["others"]
    figures["lost or wrong"] += others["lost or wrong"]
    if args.output:
        args.output.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(report(figures))


def run(args, folder, more, measure):
    pictures = folder / "pictures"
    pictures.mkdir()
    for inside in ["large", "png"]:
        (pictures / inside).symlink_to(ROOT / "samples" / inside)
    (pictures / "good.planted").write_text("PLANTED nowhere none\n")
    config = folder / "andon.toml"
    config.write_text(
        'listen = ["127.0.0.1:0"]\n[metrics]\nallow = "all"\n[log]\nformat = "off"\nlevel = "error"\n[timeouts]\nrequest = "5s"\n[cache]\nmemory = "0B"\nframes = "0B"\n'
        f'{more}[sandbox]\nread = ["{ROOT / "samples"}"]\n'
        f'[[origin]]\nprefix = "/"\nfs.root = "{pictures}"\nfs.outside_links = true\n')
    log = open(folder / "log", "w")
    server = subprocess.Popen([args.planted, config], stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = server.stdout.readline().split()
        if len(line) < 3:
            sys.exit(f"the server did not start: {(folder / 'log').read_text()}")
        return measure(args, line[2].removeprefix("http://").rstrip("/"), server.pid, pictures)
    finally:
        server.kill()
        server.wait()


def measured(args, address, process, pictures):
    expected = {target: get(address, target) for target in GOOD}
    wrong = [target for target, (status, _) in expected.items() if status != 200]
    if wrong:
        sys.exit(f"{wrong[0]}: {expected[wrong[0]]}")
    # A few deaths come first, so that the first measurement includes what they leave behind.
    for fault in ["abort", "panic"]:
        for number in range(20):
            die(address, pictures, fault, f"first {number}")
    before = state(process)
    load = Load(address, expected)
    figures = {"faults": {}}
    for fault, part in FAULTS.items():
        times = max(1, int(args.times * part))
        answers, waits = {}, []
        for number in range(times):
            status = die(address, pictures, fault, str(number))
            answers[status] = answers.get(status, 0) + 1
            began = time.monotonic()
            load.check("/r/as:png/good.planted")
            waits.append(time.monotonic() - began)
        figures["faults"][fault] = {
            "times": times, "statuses": answers, "median wait": statistics.median(waits),
            "p99 wait": sorted(waits)[int(len(waits) * 0.99)], "longest wait": max(waits)}
        print(f"{fault:10} {times:5} deaths, answered {answers}; the next job after {1000 * statistics.median(waits):.0f} ms in the "
              f"median, {1000 * max(waits):.0f} ms at most", flush=True)
    load.stop()
    time.sleep(1)
    after = state(process)
    figures |= {"others": load.done, "lost or wrong": load.failed, "before": before, "after": after}
    return figures


def unguarded(args, address, process, pictures):
    """Requests hostile images, while other clients request good ones."""
    expected = {target: get(address, target) for target in GOOD}
    load, statuses = Load(address, expected), {}
    beside = (ROOT.parent / "shared" / "cases" / "hostile").glob("*")
    for image in sorted(path for path in beside if path.suffix in {".svg", ".avif", ".tif", ".ico"}):
        (pictures / image.name).write_bytes(image.read_bytes())
        began = time.monotonic()
        statuses[image.name], _ = get(address, f"/r/as:png/{image.name}")
        print(f"{image.name}: {statuses[image.name]} after {time.monotonic() - began:.1f} s", flush=True)
    load.stop()
    faults = {"hostile images": {"statuses": statuses}} if statuses else {}
    return {"faults": faults, "others": load.done, "lost or wrong": load.failed}


def die(address, pictures, fault, number):
    """Requests a file whose reader ends the worker, and returns the status."""
    (pictures / "bad.planted").write_text(f"PLANTED pixels {fault}\n{number}")
    name = f"bad-{fault}-{number.replace(' ', '-')}.planted"
    (pictures / "bad.planted").rename(pictures / name)
    status, _ = get(address, f"/r/as:png/{name}")
    (pictures / name).unlink()
    return status


def get(address, target):
    """Returns status and body. Each request has its own connection, so that a failed one has no effect on others."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", target)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except OSError as error:
        return 0, str(error).encode()
    finally:
        connection.close()


class Load:
    """Clients that request images with a known result."""

    def __init__(self, address, expected):
        self.address, self.expected = address, expected
        self.done, self.failed, self.ended = 0, [], False
        self.threads = [threading.Thread(target=self.ask, daemon=True) for _ in range(2)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        while not self.ended:
            for target in self.expected:
                self.check(target)
            # A pause that leaves CPU time for the deaths: two cores are soon busy.
            time.sleep(0.02)

    def check(self, target):
        status, body = got = get(self.address, target)
        self.done += 1
        if got != self.expected[target]:
            self.failed.append(f"{target}: {status}, {len(body)} bytes {body[:200] if status != 200 else b''!r}")

    def stop(self):
        self.ended = True
        for thread in self.threads:
            thread.join()


def state(process):
    """Returns the memory, descriptors and processes of the server and all its processes."""
    family, added = {process}, True
    while added:
        added = {child for child in map(int, filter(str.isdigit, os.listdir("/proc"))) if parent(child) in family} - family
        family |= added
    return {
        "processes": len(family),
        "resident": sum(resident(it) for it in family),
        "descriptors": sum(len(os.listdir(f"/proc/{it}/fd")) for it in family),
    }


def parent(process):
    try:
        return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def resident(process):
    return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def report(figures):
    before, after = figures["before"], figures["after"]
    print(f"other requests: {figures['others']}, lost or wrong: {len(figures['lost or wrong'])}")
    for name in before:
        print(f"{name}: {before[name]} before, {after[name]} after")
    failures = [f"lost or wrong: {it}" for it in figures["lost or wrong"][:5]]
    for fault, row in figures["faults"].items():
        if fault == "hostile images":
            continue
        if row["p99 wait"] > READY + 0.1:
            failures.append(f"{fault}: a job after a death waited for {row['p99 wait']:.2f} s")
        if set(row["statuses"]) - {500, 503}:
            failures.append(f"{fault}: answered {row['statuses']}")
    if after["processes"] > before["processes"] + 1:
        failures.append("there are more processes than before")
    if after["descriptors"] > before["descriptors"] + 10:
        failures.append("there are more descriptors than before")
    if after["resident"] > before["resident"] * 1.25 + (32 << 20):
        failures.append("there is more memory in use than before")
    for failure in failures:
        print(f"FAIL {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    main()
