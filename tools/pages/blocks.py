"""Fenced blocks of a Markdown page, and the statements of a shell block."""

import re
import subprocess
from dataclasses import dataclass

FENCE = re.compile(r"^( *)```(\S*)\s*$")
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->", re.S)
OTHER = "<!-- another configuration -->"
ELSEWHERE = re.compile(r"<!-- run by (\S+) -->")
# "`app/andon.php`, in Symfony too:" above a block, or a first line "# photos.yaml: …" or "# andon.toml".
NAMED_ABOVE = re.compile(r"^`([\w./-]+\.\w+)`")
NAMED_INSIDE = re.compile(r"^(?:#|//|;) ([\w./-]+\.\w+)(?::.*)?$")


@dataclass
class Block:
    """`language`, `text` and `line` (of the page, from 1); `not_run`: the reason in the comment above it, or "". `other`: a configuration that the statements which follow do not use."""

    language: str
    text: str
    line: int
    not_run: str
    file: str | None
    other: bool


def blocks(page):
    """The blocks of a page's text, in their order."""
    found, above, fence = [], [], None
    for number, line in enumerate(page.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, language, start, inside = match[1], match[2], number, []
        elif fence is not None and line == f"{fence}```":
            found.append(block(language, inside, start, above))
            fence, above = None, []
        elif fence is not None:
            inside.append(line.removeprefix(fence))
        else:
            above.append(line)
    if fence is not None:
        raise ValueError(f"line {start}: this block has no end")
    return found


def block(language, inside, line, above):
    # The last paragraph and the comments between it and the block.
    paragraphs = "\n".join(above).strip().split("\n\n")
    comments, prose = "", ""
    for paragraph in reversed(paragraphs):
        if paragraph.strip().startswith("<!--") and paragraph.strip().endswith("-->"):
            comments = paragraph + comments
        else:
            prose = paragraph
            break
    reason = NOT_RUN.search(comments)
    named = NAMED_ABOVE.match(prose) if prose.endswith(":") else None
    named = named or (NAMED_INSIDE.match(inside[0]) if inside else None)
    return Block(language, "\n".join(inside) + "\n", line, " ".join(reason[1].split()) if reason else "", named and named[1],
                 OTHER in comments)


def statements(text):
    """Pairs of a complete statement of the shell and the comment that belongs to it, above it or at its end."""
    pending, comment = "", ""
    for line in text.splitlines():
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            comment = line.strip()
            continue
        pending += line + "\n"
        if line.endswith("\\") or not complete(pending):
            continue
        at_end = re.search(r"\s#\s(.*)$", line)
        yield pending.rstrip("\n"), at_end[0].strip() if at_end else comment
        pending, comment = "", ""
    if pending:
        yield pending, comment


def complete(script):
    # Of a here-document without its end bash only warns.
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    return done.returncode == 0 and not done.stderr


def commands(text):
    """Pairs of a command of a `console` block and what the page says it prints."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def printed_as(expected, output):
    """Whether `output` is what the page prints. `…` stands for any text; in a line of its own, for any lines."""
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n"
    text = "".join(f"{line}\n" for line in output.splitlines())
    return re.fullmatch(pattern, text) is not None
