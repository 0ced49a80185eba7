"""check.py ANDON [--write]: compares the instructions of each stage of an image, counted by callgrind, with those of bands.json.

A count more than BAND above the recorded one is a regression; one as far below it has to be recorded. Counts do not depend on other
load on the machine, but on the compiler and the instruction set: they are compared only if the compiler is the recorded one, on
x86-64 with AVX2. Clearing or copying memory in bulk is overestimated, because every repetition counts as an instruction."""

import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BANDS = pathlib.Path(__file__).with_name("bands.json")
BAND = 0.05
# Smaller counts cannot be separated from the code around them.
LEAST = 500_000

CASES = {
    "JPEG to 150 px": ("cover:150x150,as:jpeg,q:80", "large/blue-periwinkle.jpg"),
    "JPEG to 400 px": ("fit:400x400,as:jpeg,q:80", "large/extreme-desert-hike.jpg"),
    "JPEG to 1200 px": ("fit:1200x1200,as:jpeg,q:80", "large/blue-periwinkle.jpg"),
    "Adobe RGB to 1200 px": ("fit:1200x1200,as:jpeg,q:80", "large/canyon-wren.jpg"),
    "JPEG to WebP": ("fit:400x400,as:webp,q:80", "large/oakland-zoo-otters.jpg"),
    "JPEG to PNG and blurred": ("fit:300x300,blur:3,as:png", "large/ocean-waves.jpg"),
    "PNG to JPEG": ("fit:300x300,as:jpeg,q:80", "png/alpha.png"),
}

# Methods of traits. A function that is called through a table keeps a name of its own in the binary. An encoder's entry in the
# table may be the trait's default method, which names no codec. Such encoders are recognised by the function of their module,
# unless it is inlined into its caller.
STAGE = re.compile(r"<andon_(?:codecs|pixels)::(\S+) as andon_pixels::(?:codec::Codec|stage::Stage)>::(decode|encode|apply)$")
ENCODER = re.compile(r"andon_codecs::(\w+)::encode::encode$")


def main(andon, *options):
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    recorded = json.loads(BANDS.read_text()) if BANDS.exists() else {"compiler": "", "counts": {}}
    if platform.machine() != "x86_64" or "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
        print("instructions: not counted: the recorded ones are of x86-64 with AVX2")
        return
    if "--write" not in options and compiler != recorded["compiler"]:
        print(f"instructions: not compared: recorded with {recorded['compiler']}, this is {compiler}")
        return
    counts = {name: counted(andon, *case) for name, case in CASES.items()}
    if "--write" in options:
        BANDS.write_text(json.dumps({"compiler": compiler, "counts": counts}, indent=2) + "\n")
    wrong = []
    for name, stages in counts.items():
        before = recorded["counts"].get(name, {})
        for stage in sorted(stages.keys() | before.keys()):
            now, then = stages.get(stage, 0), before.get(stage, 0)
            change = f"{100 * (now / then - 1):+.1f} %" if then else "new"
            print(f"{name:24} {stage:32} {now / 1e6:8.1f} million {change}")
            if not then or abs(now / then - 1) > BAND:
                wrong.append(f"{name}, {stage}: {now} instructions, {then} are recorded")
    if wrong and "--write" not in options:
        sys.exit("\n".join(wrong) + "\ninstructions: if that is meant: ./dev instructions --write, and say why in the commit")


def counted(andon, recipe, photo):
    """Returns the instructions of each stage, including everything that it calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "counts")
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", andon, "convert", recipe, ROOT / "samples" / photo, "-o", folder],
            capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        shown = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no", out],
            capture_output=True, text=True, check=True).stdout
    stages = {}
    for line in shown.splitlines():
        count, _, function = line.strip().partition("  ???:")
        name = stage(re.sub(r" \[.*$", "", function))
        if name and (number := int(count.replace(",", ""))) >= LEAST:
            stages[name] = max(number, stages.get(name, 0))
    assert stages, f"no stage was found in what callgrind counted: {shown[:500]}"
    return stages


def stage(function):
    """Returns the row's name for a function of the binary, or None."""
    if encoder := ENCODER.match(function):
        return f"{encoder[1].capitalize()} encode"
    name = STAGE.match(function)
    return name and f"{name[1].rsplit('::', 1)[-1]} {name[2]}"


if __name__ == "__main__":
    main(*sys.argv[1:])
