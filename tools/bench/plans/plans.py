"""plans.py ANDON: compares the processor time and memory of many requests with their plans.

Each request is planned by `andon explain` and rendered by `andon render`, in a process of its own with limits on memory and time.
A request fails if it takes more than 8 times the planned processor time or 1.5 times the planned memory, not counting the start of the
process, or if the process crashes. The most expensive requests with a URL of at most 1 KB and a file of at most 100 KB are searched for
and listed: none may take more than 2 s, unless `limits.cpu` refuses it."""

import argparse
import json
import pathlib
import sys
import tempfile
import urllib.parse

import measure
import sources
import words

# Maximum factors by which a request may exceed its plan.
MOST_CPU_RATIO = 8
MOST_MEMORY_RATIO = 1.5
# Seconds and bytes below which a difference does not count, because libraries and the allocator use them once.
LEAST_CPU = 0.04
LEAST_MEMORY = 24 << 20
# The sources that are written in every format and size.
ENLARGED = ["1.png", "64.png", "alpha-4m.png"]
# Maximum seconds for a small request.
MOST_CPU = 2.0


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as made:
        small = sources.make(made, args.andon)
        checks = []
        if "files" in args.part:
            folders = [sources.ROOT / "samples", *filter(pathlib.Path.is_dir, sources.BESIDE), *args.folder]
            checks += [of_files(args, folder) for folder in folders]
        if "words" in args.part:
            checks.append(of_words(args, made, small))
        report(args, [row for rows in checks for row in rows])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("andon", help="the binary (./dev bench plans names the release's)")
    parser.add_argument("--quick", action="store_true", help="a first look: every tenth file, few word bombs")
    parser.add_argument("--part", nargs="+", choices=["files", "words"], default=["files", "words"], help="only these")
    parser.add_argument("--folder", nargs="+", default=[], type=pathlib.Path, help="further folders of images, such as hostile ones")
    parser.add_argument("--limit", type=float, default=5.0, help="limits.cpu in seconds (5)")
    parser.add_argument("--seed", type=int, default=1, help="of random mixtures of words")
    parser.add_argument("--output", type=pathlib.Path, help="where the measurements go, as JSON")
    return parser.parse_args()


def of_files(args, folder):
    """Yields every file below a folder with each of the ten recipes."""
    andon = measure.Andon(args.andon, folder, f"{args.limit}s")
    start = started(args)
    paths = list(sources.files([folder]))
    for path in paths[:: 10 if args.quick else 1]:
        name = urllib.parse.quote(str(path.relative_to(folder)))
        for recipe in words.RECIPES[:: 3 if args.quick else 1]:
            yield shown(row(andon, start, f"/r/{words.quote(recipe)}/{name}", path.stat().st_size))


def of_words(args, folder, small):
    """Yields the most expensive requests that are found: each word as often as the URL or `limits.cpu` permits, on small files."""
    andon = measure.Andon(args.andon, folder, f"{args.limit}s")
    start = started(args)
    first = small[0].name
    step = 11 if args.quick else 1
    for bomb in list(words.bombs())[::step]:
        yield from dearest(andon, start, bomb, small, first)
    for bomb in words.mixtures(args.seed, 10 if args.quick else 300):
        yield from dearest(andon, start, bomb, small, None)


def dearest(andon, start, bomb, small, only):
    """Yields one word bomb for one file, repeated as often as is admitted. If nothing is to be repeated, yields it for every file."""
    word, output, side = bomb
    for name in [only] if only and word else [path.name for path in small]:
        # A file of many pixels is read in the same way for every size of its result.
        if not word and side not in (0, words.SIDES[0]) and name not in ENLARGED:
            continue
        size = next(path.stat().st_size for path in small if path.name == name)
        target = lambda times: words.target(word, times, output, side, name)
        most = words.most_times(word, output, side, name)
        times = admitted(andon, target, most)
        if times is not None:
            yield shown(row(andon, start, target(times), size))


def admitted(andon, target, most):
    """Returns the largest number of repetitions whose plan is within the limit, or None if not even the smallest one is."""
    def fits(times):
        plan = andon.explain(target(times))
        return not plan.refused and not plan.over

    low, high = min(1, most), min(most, 64)
    if not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def started(args):
    """Returns the resources of a process that does next to nothing."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "1.png").write_bytes(sources.png(1, 1, lambda y: b"\0\0\0"))
        return measure.floor(measure.Andon(args.andon, folder), "/r/as:png/1.png")


def row(andon, start, target, size):
    """Plans, renders and judges one request."""
    plan = andon.explain(target)
    made = andon.render(target)
    cpu, memory = max(0.0, made.cpu - start[0]), max(0, made.memory - start[1])
    told = {
        "target": target, "file_bytes": size, "planned_cpu": plan.cpu, "planned_memory": plan.memory, "refused": plan.refused,
        "cpu": round(cpu, 4), "memory": memory, "outcome": made.outcome, "wrong": [],
    }
    if made.outcome != "made":
        told["said"] = measure.last_line(made.said)
    if made.outcome == "crashed":
        told["wrong"].append("crashed")
    if cpu > MOST_CPU_RATIO * plan.cpu + LEAST_CPU:
        told["wrong"].append("cpu")
    if memory > MOST_MEMORY_RATIO * plan.memory + LEAST_MEMORY:
        told["wrong"].append("memory")
    if is_small(told) and cpu > MOST_CPU:
        told["wrong"].append("dear")
    return told


def is_small(row):
    return len(row["target"]) <= words.LONGEST and row["file_bytes"] <= sources.SMALL


def shown(row):
    """Prints a fault at once, because the whole run takes long."""
    if row["wrong"]:
        print(f"WRONG {' '.join(row['wrong'])}: {line(row)}", flush=True)
    return row


def line(row):
    target = row["target"] if len(row["target"]) < 90 else row["target"][:60] + "…" + row["target"][-28:]
    return (
        f"{row['cpu']:7.2f} s of {row['planned_cpu']:7.2f} s, {row['memory'] >> 20:5} MiB of {row['planned_memory'] >> 20:5} MiB, "
        f"{row['file_bytes']:8} bytes, {row['outcome']:8} {target}")


def report(args, rows):
    made = [row for row in rows if row["outcome"] == "made"]
    small = sorted((row for row in rows if is_small(row)), key=lambda row: -row["cpu"])
    print(f"\n{len(rows)} requests, {len(made)} made, {sum(row['outcome'] == 'refused' for row in rows)} refused")
    print("\nThe dearest with a URL of at most 1 KB and a file of at most 100 KB:")
    for row in small[:20]:
        print(line(row))
    ratios = sorted(row["cpu"] / row["planned_cpu"] for row in made if row["cpu"] > 0.1 and row["planned_cpu"])
    if ratios:
        print(f"\nMeasured over planned processor time, from 0.1 s: least {ratios[0]:.2f}, median {ratios[len(ratios) // 2]:.2f}, "
              f"most {ratios[-1]:.2f}")
    if args.output:
        args.output.write_text(json.dumps({"limit": args.limit, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    wrong = [row for row in rows if row["wrong"]]
    if wrong:
        sys.exit(f"plans: {len(wrong)} of {len(rows)} requests took more than their plans, or than they may")


if __name__ == "__main__":
    main()
