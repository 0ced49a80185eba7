#!/usr/bin/env python3
"""Ten of ten? The same command against itself, and against itself with a tenth more work per request, again and again.

    trials.py OUTPUT.json [TRIALS]    adds so many trials of each kind to OUTPUT.json, then prints all of it

Each trial is an `andon-lab quick` as a user would type it, with a seed of its own. An A/A trial fails if it is called
FASTER or SLOWER; SAME and UNDECIDED (with the pairs that are missing) are right. A trial with a tenth more work fails
unless it is called SLOWER. One that other work on the machine made INVALID says nothing of either, and is made again; three
of them in a row end it with 3. Ends with 1 if any trial failed.

It needs `andon` and `php` with GD in PATH.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = ["andon-lab", "quick", "-c", "10", "-n", "500", "--warmup", "500ms", "--pairs", "10", "--no-aa", "--quiet"]
SERVER = ["--", "php", "-q", "-S", "{addr}", os.path.join(HERE, "thumbnail.php")]
KINDS = {
    # The same value twice: two variants by name, one by deed.
    "A/A": (["-e", "WORK=10,010"], ["SAME", "UNDECIDED"]),
    "10 % more work": (["-e", "WORK=10,11"], ["SLOWER"]),
}


def main():
    output = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    trials = []
    if os.path.exists(output):
        with open(output) as file:
            trials = json.load(file)["trials"]
    for _ in range(count):
        for kind in KINDS:
            number = sum(trial["kind"] == kind for trial in trials) + 1
            trials.append(valid_trial(kind, number))
            print(line(trials[-1]), flush=True)
            write(output, trials)
    print()
    print(table(trials))
    sys.exit(any(not trial["right"] for trial in trials))


# Invalid trials in a row after which the machine is too busy for any.
MOST_INVALID = 3


def valid_trial(kind, number):
    for _ in range(MOST_INVALID):
        made = trial(kind, number)
        if made["ratio"] is not None:
            return made
        print(f"{kind:15} {number:3}  {made['verdict']}", file=sys.stderr, flush=True)
    print(f"{MOST_INVALID} trials in a row were invalid: try again when less else runs here", file=sys.stderr)
    sys.exit(3)


def trial(kind, number):
    """One run of quick, and what it said; without a ratio if it was invalid."""
    options, right = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        begun = time.monotonic()
        command = QUICK + ["--seed", str(number), *options, "-o", run] + SERVER
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.monotonic() - begun
        if done.returncode not in (0, 3):
            raise SystemExit(f"andon-lab quick ended with {done.returncode}: {done.stdout}")
        with open(os.path.join(run, "report.json")) as file:
            analysis = json.load(file)["analysis"]
    [primary] = [it for it in analysis["comparisons"] if it["role"] == "primary"]
    estimate = primary["estimate"]  # none of an invalid one
    word = primary["verdict"]["word"].upper()
    return {
        "kind": kind,
        "number": number,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "verdict": done.stdout.strip(),
        "word": word,
        "right": word in right,
        "ratio": estimate and estimate["ratio"],
        "interval_95": estimate and [estimate["interval_95"]["low"], estimate["interval_95"]["high"]],
        "pairs": estimate and estimate["pairs"],
        "deviation": estimate and estimate["deviation"],
        "discards": analysis["discards"],
        "interim_analyses": analysis["interim_analyses"],
        "seconds": seconds,
    }


def line(it):
    low, high = it["interval_95"]
    wrong = "" if it["right"] else "  WRONG"
    return (
        f"{it['kind']:15} {it['number']:3}  x{it['ratio']:.3f} [{low:.3f}, {high:.3f}]  {it['pairs']:2} pairs  "
        f"{it['seconds']:4.0f} s  {it['verdict'].split(': ', 1)[-1]}{wrong}"
    )


def table(trials):
    lines = [line(it) for kind in KINDS for it in trials if it["kind"] == kind]
    for kind in KINDS:
        own = [it["right"] for it in trials if it["kind"] == kind]
        lines.append(f"{kind}: {sum(own)} of {len(own)} right")
    return "\n".join(lines)


def write(output, trials):
    record = {
        "what": "quick against itself, and against a tenth more work per request",
        "command": QUICK + ["..."] + SERVER[:-1] + ["thumbnail.php"],
        "machine": {"kernel": platform.release(), "cpus": os.cpu_count()},
        "trials": trials,
    }
    with open(output, "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
