#!/usr/bin/python3
"""Counts production lines of Rust and C by workspace, including comments: tests, generated and vendored files are left out.

./dev lines [COMMIT...]. Test code is code in tests/, examples/, files named tests.rs or fixture.rs, and items with #[cfg(test)].
"""
import re, subprocess, sys

HOUSES = (
    ("lab", r"lab/|crates/lab/|crates/commands/src/(lab|tune)(/|\.rs)"),
    ("tools", r"tools/|bench/|fuzz/|crates/(simulation|conformance|planted)/"),
    ("server", r"crates/"),
    ("python", r"python/"),
)
TESTS = re.compile(r"(^|/)(tests|examples|benches)/|(^|/)(tests|fixture|simulations)\.rs$")
GENERATED = re.compile(r"crc-fast")


def git(*args):
    return subprocess.run(["git", *args], check=True, capture_output=True, text=True, errors="replace").stdout


def production(text):
    """Returns the number of lines that are compiled into what is shipped."""
    lines, count, at = text.splitlines(), 0, 0
    while at < len(lines):
        if lines[at].strip() == "#[cfg(test)]":
            at = after_item(lines, at + 1)
            continue
        count += 1
        at += 1
    return count


def after_item(lines, at):
    """Returns the index of the line after the item that begins here: its last brace, or its semicolon."""
    depth = 0
    while at < len(lines):
        line = re.sub(r'"(\\.|[^"\\])*"|\'.\'|//.*', "", lines[at])
        depth += line.count("{") - line.count("}")
        at += 1
        if depth <= 0 and (line.rstrip().endswith(("}", ";", "};")) or "}" in line):
            break
    return at


def houses(commit):
    counts = {name: 0 for name, _ in HOUSES}
    names = git("ls-tree", "-r", "--name-only", commit).split("\n")
    names = [name for name in names if name.endswith((".rs", ".c", ".h")) and not TESTS.search(name) and not GENERATED.search(name)]
    batch = subprocess.run(["git", "cat-file", "--batch"], input="".join(f"{commit}:{name}\n" for name in names).encode(),
                           check=True, capture_output=True).stdout
    for name in names:
        head, rest = batch.split(b"\n", 1)
        size = int(head.split()[-1])
        text, batch = rest[:size].decode(errors="replace"), rest[size + 1:]
        house = next((house for house, pattern in HOUSES if re.match(pattern, name)), None)
        if house:
            counts[house] += production(text)
    return counts


def main():
    commits = sys.argv[1:] or ["HEAD"]
    print("commit    " + "".join(f"{name:>10}" for name, _ in HOUSES) + "       all")
    for commit in commits:
        counts = houses(commit)
        print(f"{git('rev-parse', '--short', commit).strip():10}" + "".join(f"{count:>10,}" for count in counts.values())
              + f"{sum(counts.values()):>10,}")


if __name__ == "__main__":
    main()
