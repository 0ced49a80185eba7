#!/usr/bin/python3
"""Runs the blocks that README.md and the pages of docs/ print: run.py ANDON [PAGE...]. `./dev pages` and a test of the documents start it.

| block | check |
|---|---|
| `sh` | each statement is run by bash; curl has to report 200, or the status in the comment: `# 403` |
| `console` | the command after `$` is run, and has to print the lines that follow (`…`: anything) |
| `toml` | `andon config check`, with the folders and secrets that it names; statements that follow use it as andon.toml, unless `<!-- another configuration -->` stands above it |
| `nginx` | `nginx -t`; the statements that follow find it at its port |
| `html`, lines that begin with `/` | every URL is fetched and is an image |
| `yaml` | parsed; values of the chart, compose files and configurations in them are checked |
| `php`, `ruby`, `js`, `json`, `caddy`, `vcl`, … | read by their own program |
| `text` | output or grammar: not checked |

A block may begin with its file's name in a comment, or follow a paragraph that begins with it: it is written to that file. A comment
`<!-- not run: REASON -->` above a block, or <!-- not run: `systemctl`, `dnf`: REASON --> for statements of a block that begin with
these words, skips it. `<!-- run by FILE -->` on a page names the test that runs its Python. Any other block is a fault.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import page as pages
import room

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    inside = sys.argv[1:2] == ["--inside"]
    arguments = sys.argv[2:] if inside else sys.argv[1:]
    andon, names = pathlib.Path(arguments[0]).resolve(), arguments[1:]
    if not inside:
        if not room.available():
            print("SKIPPED: no namespaces of Linux may be made here (unshare, ip), so no page was run")
            return
        room.enter([__file__, "--inside", str(andon), *names])
    files = [ROOT / name for name in names] or [ROOT / "README.md", ROOT / "compose.yaml", ROOT / "Dockerfile", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {shown(file): text(file) for file in files}
    tests = {test: (ROOT / test).read_text() for page in texts.values() for test in pages.blocks.ELSEWHERE.findall(page)}
    room.furnish(ROOT, andon)
    faults, ran, left_out, missing = [], 0, [], []
    for name, content in texts.items():
        start, page = time.monotonic(), pages.Page(name, content)
        faults += page.run()
        faults += [f"{name}: {test} does not name this page" for test in page.elsewhere if pathlib.Path(name).name not in tests[test]]
        ran, left_out, missing = ran + page.ran, left_out + page.left_out, missing + page.missing
        if names:
            print(f"{name}: {len(page.blocks)} blocks, {page.ran} run, {time.monotonic() - start:.1f} s")
    print("\n".join([*missing, f"{ran} blocks run, {len(left_out)} marked as not run, {len(missing)} blocks or statements without their program"]))
    if faults:
        sys.exit("\n".join(faults))
    if not names and ran < 140:
        sys.exit(f"{ran} blocks only: are they still found?")


def shown(file):
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name


def text(file):
    """Returns a page, or a file that consists of one block of a page."""
    return file.read_text() if file.suffix == ".md" else f"```{file.suffix[1:] or file.name.lower()}\n{file.read_text()}```\n"


if __name__ == "__main__":
    main()
