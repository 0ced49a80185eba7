#!/usr/bin/env python3
"""Are ten of ten verdicts right? Runs a command against itself, and against itself with a tenth more work per request.

    trials.py OUTPUT.json [TRIALS]    adds TRIALS trials of each kind to OUTPUT.json, then prints all of them

Each trial is an `andon-lab quick` as a user would type it, with a seed of its own. An A/A trial fails if its verdict is
FASTER or SLOWER; SAME and UNDECIDED are right. A trial with a tenth more work fails unless its verdict is SLOWER. A trial
that other work on the machine made INVALID is repeated; three of them in a row end the program with exit code 3. The exit
code is 1 if any trial failed.

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
    # Both values are the same number, so that only the names of the variants differ.
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


# Number of invalid trials in a row after which the machine counts as too busy.
MOST_INVALID = 3


def valid_trial(kind, number):
    for _ in range(MOST_INVALID):
        result = trial(kind, number)
        if result["ratio"] is not None:
            return result
        print(f"{kind:15} {number:3}  {result['verdict']}", file=sys.stderr, flush=True)
    print(f"{MOST_INVALID} trials in a row were invalid: try again when less else runs here", file=sys.stderr)
    sys.exit(3)


def trial(kind, number):
    """Runs `andon-lab quick` once. Returns the result, without a ratio if the run was invalid."""
    options, right = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        start = time.monotonic()
        command = QUICK + ["--seed", str(number), *options, "-o", run] + SERVER
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.monotonic() - start
        if result.returncode not in (0, 3):
            raise SystemExit(f"andon-lab quick ended with {result.returncode}: {result.stdout}")
        with open(os.path.join(run, "report.json")) as file:
            analysis = json.load(file)["analysis"]
    [primary] = [it for it in analysis["comparisons"] if it["role"] == "primary"]
    estimate = primary["estimate"]  # None if the comparison is invalid
    word = primary["verdict"]["word"].upper()
    return {
        "kind": kind,
        "number": number,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "verdict": result.stdout.strip(),
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
        verdicts = [it["right"] for it in trials if it["kind"] == kind]
        lines.append(f"{kind}: {sum(verdicts)} of {len(verdicts)} right")
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
