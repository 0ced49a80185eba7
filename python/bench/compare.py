"""The Python package against `andon convert`, Pillow and OpenCV, and its memory: ./dev bench python

Whatever is compared is measured in turns, round by round, so that a disturbance meets all of them. Ratios are those of speed,
medians over rounds. Nothing here is a test: tests assert no times.
"""

import argparse
import io
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import PIL
import pyarrow as pa
from PIL import Image

import andon

ROOT = Path(__file__).resolve().parents[2]
SIDE = 256
RECIPE = f"fit:{SIDE}x{SIDE},as:jpeg,q:80"

SCRIPT = """
import sys
from pathlib import Path
import andon
for name in sys.argv[3:]:
    path = Path(name)
    (Path(sys.argv[2]) / f"{path.stem}.jpg").write_bytes(andon.render(sys.argv[1], path.read_bytes()))
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench python", description=__doc__)
    parser.add_argument("--photos", type=Path, default=ROOT / "samples/large", help="folder of JPEG photos")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--images", type=int, default=100_000, help="images of the run for memory; 0: leave it out")
    parser.add_argument("--binary", type=Path, required=True, help="the release binary of andon")
    parser.add_argument("--output", type=Path, required=True, help="file for the raw results")
    options = parser.parse_args()

    files = sorted(options.photos.glob("*.jpg"))
    photos = [file.read_bytes() for file in files]
    run = {"machine": machine(), "photos": [file.name for file in files], "side": SIDE, "recipe": RECIPE}
    wall, processor = timed(contestants(photos, files, options.binary), options.rounds)
    run |= {"seconds": wall, "processor_seconds": processor}
    run["ratios"] = ratios(wall, processor)
    if options.images:
        run["memory"] = memory(options.images)
    options.output.write_text(json.dumps(run, indent=2) + "\n")

    for name, ratio in run["ratios"].items():
        print(f"{name:48} {ratio['median']:.3f}  ({ratio['least']:.3f} to {ratio['most']:.3f})")
    for images, mib in run.get("memory", {}).items():
        print(f"resident after {images:>7} images: {mib:.1f} MiB")
    print(f"raw results: {options.output}")


def contestants(photos: list[bytes], files: list[Path], binary: Path) -> dict[str, Callable[[], None]]:
    """What is measured: each goes through all photos once or, where that is in its name, several times."""
    several = pa.array(photos * 3)
    pool = ThreadPoolExecutor(2)
    folder = Path(tempfile.mkdtemp())
    many = copies(files, folder / "in", 6)
    output = folder / "out"
    output.mkdir()
    core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]

    def convert(inputs: list[Path]) -> None:
        subprocess.run([*core, binary, "convert", RECIPE, *inputs, "-o", output], check=True)

    def script(inputs: list[Path]) -> None:
        subprocess.run([*core, sys.executable, "-c", SCRIPT, RECIPE, output, *inputs], check=True)

    # The same work: the same bytes.
    results = []
    for work in [convert, script]:
        work(files)
        results.append({path.name: path.read_bytes() for path in output.iterdir()})
    assert results[0] == results[1], "the package and the binary differ"

    def pooled() -> None:
        list(pool.map(lambda photo: andon.render(RECIPE, photo), photos * 3))

    return {
        "convert, one image": lambda: convert(files[:1]),
        "script, one image": lambda: script(files[:1]),
        "convert": lambda: convert(many),
        "script": lambda: script(many),
        "batch, 1 thread": lambda: batch(several, 1),
        "batch, 2 threads": lambda: batch(several, 2),
        "render, 2 Python threads": pooled,
        "render": lambda: each(lambda photo: andon.render(RECIPE, photo), photos),
        "Pillow, draft": lambda: each(pillow, photos),
        "OpenCV, full decode": lambda: each(opencv, photos),
    }


def copies(files: list[Path], folder: Path, count: int) -> list[Path]:
    """Each file several times, under names of its own."""
    folder.mkdir()
    made = []
    for number in range(count):
        for file in files:
            made.append(folder / f"{number}-{file.name}")
            made[-1].symlink_to(file.resolve())
    return made


def batch(images: pa.Array, threads: int) -> None:
    assert andon.render_batch(RECIPE, images, threads=threads).field("error").null_count == len(images)


def each(work: Callable[[bytes], bytes], photos: list[bytes]) -> None:
    for photo in photos:
        work(photo)


def pillow(photo: bytes) -> bytes:
    image = Image.open(io.BytesIO(photo))
    # It has the JPEG decoder shrink, to twice the size at least.
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


def opencv(photo: bytes) -> bytes:
    cv2.setNumThreads(1)
    image = cv2.imdecode(np.frombuffer(photo, np.uint8), cv2.IMREAD_COLOR)
    factor = SIDE / max(image.shape[:2])
    small = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


Seconds = dict[str, list[float]]


def timed(work: dict[str, Callable[[], None]], rounds: int) -> tuple[Seconds, Seconds]:
    """Of each round but the first, which warms caches and pages: seconds, and seconds of processor time."""
    wall: Seconds = {name: [] for name in work}
    processor: Seconds = {name: [] for name in work}
    for number in range(rounds + 1):
        for name, once in work.items():
            begun, spent = time.perf_counter(), processor_seconds()
            once()
            if number:
                wall[name].append(time.perf_counter() - begun)
                processor[name].append(processor_seconds() - spent)
    return wall, processor


def processor_seconds() -> float:
    """Of this process and those that it started."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def ratios(wall: Seconds, processor: Seconds) -> dict[str, dict[str, float]]:
    pairs = {
        "2 threads : 1 thread": (wall["batch, 1 thread"], wall["batch, 2 threads"]),
        "2 Python threads : 1 thread": (wall["batch, 1 thread"], wall["render, 2 Python threads"]),
    }
    for kind, seconds in {"": wall, ", processor time": processor}.items():
        # The start of the binary and of the interpreter are taken off.
        convert, script = (
            [all - one for all, one in zip(seconds[name], seconds[f"{name}, one image"])]
            for name in ["convert", "script"]
        )
        pairs[f"package : andon convert{kind}"] = (convert, script)
        pairs[f"package : Pillow with draft{kind}"] = (seconds["Pillow, draft"], seconds["render"])
        pairs[f"package : OpenCV, full decode{kind}"] = (
            seconds["OpenCV, full decode"],
            seconds["render"],
        )
    made = {}
    for name, (slow, fast) in pairs.items():
        all = [one / other for one, other in zip(slow, fast)]
        made[name] = {"median": statistics.median(all), "least": min(all), "most": max(all)}
    return made


def memory(count: int) -> dict[int, float]:
    """Resident MiB after so many images: small and large ones, good and damaged ones, two threads."""
    photos = [path.read_bytes() for path in sorted((ROOT / "samples/photos").glob("*.jpg"))]
    small = [path.read_bytes() for path in sorted((ROOT / "samples/jpeg").glob("*.jpg"))]
    damaged = [photo[: len(photo) // 2] for photo in photos] + [b"garbage"]
    mixed = (small * 10)[: 250 - len(photos) - len(damaged)] + photos + damaged
    images = pa.array(mixed)
    resident, done, next_look = {}, 0, 1000
    while done < count:
        andon.render_batch(RECIPE, images, threads=2)
        done += len(images)
        if done >= next_look or done >= count:
            resident[done] = resident_mib()
            next_look *= 2
    return resident


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def machine() -> dict[str, object]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "load_before": Path("/proc/loadavg").read_text().strip(),
        "python": platform.python_version(),
        "peers": [f"Pillow {PIL.__version__}", f"OpenCV {cv2.__version__}", f"pyarrow {pa.__version__}"],
    }


if __name__ == "__main__":
    main()
