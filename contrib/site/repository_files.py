"""A preprocessor of mdBook for what pages say of files of the repository that are no pages.

Links to them work where the repository is browsed. On the site they become links below REPOSITORY (an environment
variable, such as https://forge.example/andon/blob/main), or plain text without it. A line `{{ PATH }}` becomes the
text of that file. A file that is not there fails the build.
"""

import json
import os
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")
FILE = re.compile(r"^\{\{ (\S+) \}\}$", re.MULTILINE)
BROWSE = os.environ.get("REPOSITORY", "").rstrip("/")


def existing(target, page):
    if not target.exists():
        sys.exit(f"docs/{page}: no such file: {target}")
    return target


def processed(text, page):
    def link(match):
        said, path, anchor = match.group(1), match.group(2), match.group(3) or ""
        target = existing((DOCS / page).parent.joinpath(path).resolve(), page)
        if target.is_relative_to(DOCS):
            return match.group(0)
        return f"[{said}]({BROWSE}/{target.relative_to(DOCS.parent)}{anchor})" if BROWSE else said

    def include(match):
        target = existing(DOCS.parent / match.group(1), page)
        return f"```{target.suffix.lstrip('.')}\n{target.read_text()}```"

    return FILE.sub(include, LINK.sub(link, text))


def walk(items):
    for item in items:
        chapter = isinstance(item, dict) and item.get("Chapter")
        if chapter:
            if chapter["path"]:
                chapter["content"] = processed(chapter["content"], chapter["path"])
            walk(chapter["sub_items"])


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
_, book = json.load(sys.stdin)
walk(book.get("items", book.get("sections", [])))
json.dump(book, sys.stdout)
