"""Measures one request in a process of its own: its plan, and the resources for rendering it."""

import dataclasses
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

TOGETHER = re.compile(r"together, on one core, as estimated\s+([\d.]+) ms\s+([\d.]+) (B|KiB|MiB) peak")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}

# Limits for a child process. If it exceeds them, it is ended and has failed.
MOST_MEMORY = 6 << 30
MOST_CPU = 60


@dataclasses.dataclass
class Plan:
    """The plan as `andon explain` prints it: seconds and bytes, or the reason why there is no plan."""

    cpu: float = 0.0
    memory: int = 0
    refused: str = ""
    # Whether `limits.cpu` would refuse it.
    over: bool = False


@dataclasses.dataclass
class Made:
    """The resources of a run of `andon render`, including its start, and its outcome: "made", "refused", "crashed"."""

    cpu: float
    memory: int
    outcome: str
    said: str


class Andon:
    """The binary under test, with a folder of sources. `limits.cpu` is the given one: "0s" measures requests that would be refused."""

    def __init__(self, binary, root, limit=None):
        self.binary, self.root = str(binary), pathlib.Path(root)
        self.folder = tempfile.TemporaryDirectory()
        config = pathlib.Path(self.folder.name, "andon.toml")
        overlays = pathlib.Path(__file__).resolve().parents[3] / "samples" / "icons"
        text = f'[[origin]]\nprefix = "/"\nfs.root = "{self.root}"\n[small_light]\nmaterial_dir = "{overlays}"\n'
        if limit is not None:
            text += f'[limits]\ncpu = "{limit}"\n'
        config.write_text(text)
        self.place = ["--config", str(config)]
        # The output's file name has no extension that names a format.
        self.output = str(pathlib.Path(self.folder.name, "result"))

    def explain(self, target):
        """Returns the plan of a URL path."""
        ended = self.run("explain", target, *self.place)
        found = TOGETHER.search(ended.said)
        if ended.outcome != "made" or not found:
            return Plan(refused=last_line(ended.said))
        over = "\nrefused " in ended.said
        return Plan(float(found[1]) / 1000, int(float(found[2]) * UNITS[found[3]]), over=over)

    def render(self, target):
        """Renders the image of a URL path."""
        return self.run("render", target, *self.place, "-o", self.output)

    def run(self, *args):
        """Runs the binary within the limits."""
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen(
                [self.binary, *args], stdin=subprocess.DEVNULL, stdout=said, stderr=said, preexec_fn=bound)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read(100_000).decode(errors="replace")
        outcome = {0: "made", 1: "refused"}.get(child.returncode, "crashed")
        if child.returncode < 0:
            text += f"\nended by {signal.Signals(-child.returncode).name}"
        return Made(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, outcome, text)


def bound():
    """Runs in the child, before it becomes the binary."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def floor(andon, target):
    """Returns the seconds and bytes of a run with next to nothing to do: medians of five."""
    made = [andon.render(target) for _ in range(5)]
    middle = lambda values: sorted(values)[2]
    return middle([it.cpu for it in made]), middle([it.memory for it in made])


def stamp():
    return time.strftime("%Y-%m-%d-%H%M", time.gmtime())
