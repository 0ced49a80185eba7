"""A preprocessor of mdBook for what pages say of files of the repository that are no pages.

Pages are in docs/, and those of the laboratory in lab/docs/, which become pages below lab/ of the site. Links to other files work
where the repository is browsed. On the site they become links below REPOSITORY (an environment variable, such as
https://forge.example/andon/blob/main), or plain text without it. A line `{{ PATH }}` becomes the text of that file. A file
that is not there fails the build.
"""

import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS, LAB = ROOT / "docs", ROOT / "lab/docs"
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
FILE = re.compile(r"^\{\{ (\S+) \}\}$", re.MULTILINE)
BROWSE = os.environ.get("REPOSITORY", "").rstrip("/")


def existing(target, page):
    if not target.exists():
        sys.exit(f"{page.relative_to(ROOT)}: no such file: {target}")
    return target


def on_site(file):
    """Where a page is on the site; nothing for what is no page."""
    if file.suffix == ".md" and file.is_relative_to(LAB):
        return Path("lab") / file.relative_to(LAB)
    return file.relative_to(DOCS) if file.is_relative_to(DOCS) else None


def processed(text, page):
    def link(match):
        said, path, anchor = match.group(1), match.group(2), match.group(3) or ""
        target = existing((page.parent / path).resolve(), page)
        there = on_site(target)
        if there:
            return f"[{said}]({os.path.relpath(there, on_site(page).parent)}{anchor})"
        return f"[{said}]({BROWSE}/{target.relative_to(ROOT)}{anchor})" if BROWSE else said

    def include(match):
        target = existing(ROOT / match.group(1), page)
        return f"```{target.suffix.lstrip('.')}\n{target.read_text()}```"

    return FILE.sub(include, LINK.sub(link, text))


def walk(items):
    for item in items:
        chapter = isinstance(item, dict) and item.get("Chapter")
        if chapter:
            if chapter["path"]:
                page = (DOCS / chapter["path"]).resolve()
                chapter["content"] = processed(chapter["content"], page)
                chapter["path"] = str(on_site(page))
            walk(chapter["sub_items"])


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
_, book = json.load(sys.stdin)
walk(book.get("items", book.get("sections", [])))
json.dump(book, sys.stdout)
