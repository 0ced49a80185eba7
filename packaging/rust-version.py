"""rust-version.py [--write]: the oldest Rust that compiles Andon with every feature is the newest `rust-version` among the crates
that are compiled in, ours and others'. Cargo.toml has to state it, and so do the pages that name it; --write makes them."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The places that state the version, each with the surrounding words.
PLACES = {
    "Cargo.toml": r'(?m)^(rust-version = ")([\d.]+)(")',
    "README.md": r"(\[Rust\]\(https://rustup\.rs/\) )([\d.]+)( or newer)",
    "Dockerfile": r"(library/rust:)([\d.]+)(-)",
    "docs/index.md": r"(\[Rust\]\(https://rustup\.rs/\) )([\d.]+)( or newer)",
    "CONTRIBUTING.md": r"(Rust toolchain \()([\d.]+)( or newer)",
}


def main(*options):
    host = re.search(r"^host: (.*)$", run("rustc", "-vV"), re.MULTILINE).group(1)
    metadata = json.loads(run("cargo", "metadata", "--locked", "--format-version=1", "--all-features", f"--filter-platform={host}"))
    ours = set(metadata["workspace_default_members"])
    compiled = reached(ours, metadata["resolve"]["nodes"])
    newest, crate = max(
        (numbers(package["rust_version"]), package["name"])
        for package in metadata["packages"]
        if package["id"] in compiled - ours and package["rust_version"]
    )
    version = ".".join(map(str, newest[:2] if not newest[2] else newest))
    wrong = []
    for page, pattern in PLACES.items():
        text = (ROOT / page).read_text()
        stated = {found.group(2) for found in re.finditer(pattern, text)}
        if stated == {version}:
            continue
        if "--write" in options:
            (ROOT / page).write_text(re.sub(pattern, rf"\g<1>{version}\g<3>", text))
        else:
            wrong.append(f"{page} says {', '.join(sorted(stated)) or 'nothing'}")
    if wrong:
        sys.exit(f"rust-version: {crate} needs Rust {version}, but {'; '.join(wrong)} (packaging/rust-version.py --write mends it)")


def run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def reached(crates, nodes):
    """Returns all packages with which `crates` are built, including these crates."""
    needs = {node["id"]: node["dependencies"] for node in nodes}
    found, left = set(), list(crates)
    while left:
        crate = left.pop()
        if crate not in found:
            found.add(crate)
            left += needs[crate]
    return found


def numbers(version):
    parts = [int(part) for part in version.split(".")]
    return tuple(parts + [0] * (3 - len(parts)))


main(*sys.argv[1:])
