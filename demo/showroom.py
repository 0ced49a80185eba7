"""Builds the demo's page: photos before and after, a gallery of use cases, a field for URLs, and the list of all URLs that `demo
--check` requests. Every image is the server's response to the URL below it."""

import html
import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent


def write(sections, server, out):
    """Writes the page to `out`, and its style and script into the same folder."""
    shown = [section for section in sections if section.is_shown]
    listed = [section for section in sections if not section.is_shown]
    count = sum(len(section.cases) for section in sections)
    parts = {
        "INDEX": " ".join(f'<a href="#{name(section)}">{escape(section.heading)}</a>' for section in shown),
        "SHOWN": "\n".join(room(section, server) for section in shown),
        "COUNT": str(count),
        "LISTED": "\n".join(table(section, server) for section in listed),
    }
    text = (HERE / "showroom.html").read_text(encoding="utf-8")
    out.write_text(re.sub(r"\{([A-Z]+)\}", lambda found: parts[found[1]], text), encoding="utf-8")
    for file in ("showroom.css", "showroom.js"):
        shutil.copy(HERE / file, out.parent / file)


def name(section):
    """Returns the section's anchor."""
    return section.heading.lower().replace(" ", "-")


def room(section, server):
    """Returns the HTML of a section: pairs of before and after, or cards."""
    groups = {}
    for case in section.cases:
        groups.setdefault(before_of(case), []).append(case)
    if None in groups:
        body = '<div class="gallery">' + "".join(card(case, server) for case in section.cases) + "</div>"
    else:
        body = '<div class="pairs">' + "".join(pair(url, cases, server) for url, cases in groups.items()) + "</div>"
    return (f'<section id="{name(section)}"><h2>{escape(section.heading)}</h2>'
            f'<p class="lead">{escape(section.text)}</p>{body}</section>')


def before_of(case):
    """Returns the URL of the original with which a case is compared, or None."""
    found = [item.partition("=")[2] for item in case.checks if item.startswith("smaller=")]
    return found[0] if found else None


def pair(before, cases, server):
    """Returns the HTML of an original below its result, with a slider between them and a choice of formats."""
    original = server.get(before)
    width, height = cases[0].size
    caption = escape(cases[0].caption.partition(",")[0])
    choices = []
    for case in cases:
        reply = server.get(case.url)
        share = f"{len(reply.body) / len(original.body) * 100:.1f} %"
        choices.append(
            f'<label><input type="radio" name="{escape(before)}" value="{escape(case.url)}"'
            f'{" checked" if case.type == "image/webp" else ""}><span>{kind(case)} <b>{size(reply)}</b> {share}</span></label>')
    first = next((case for case in cases if case.type == "image/webp"), cases[0])
    return (f'<figure class="pair"><div class="stack" data-width="{width}">'
            f'<img class="after" src="{escape(first.url)}" width="{width}" height="{height}" alt="{caption}, as Andon sends it" loading="lazy">'
            f'<img class="before" src="{escape(before)}" width="{width}" height="{height}" alt="{caption}, the original" loading="lazy">'
            '<div class="line"></div>'
            f'<input type="range" min="0" max="100" value="50" aria-label="{caption}: how much of the original is seen">'
            f'<span class="tag left">Original <b>{size(original)}</b></span><span class="tag right">Andon <b></b></span></div>'
            f'<figcaption><strong>{escape(cases[0].caption)}</strong><fieldset class="chips"><legend>{caption} as</legend>{"".join(choices)}</fieldset>'
            f'<a class="url" href="{escape(first.url)}"><code>{breakable(first.url)}</code></a></figcaption></figure>')


def card(case, server):
    """Returns the HTML of an image at its true size, with its bytes and time and its URL."""
    reply = server.get(case.url)
    width, height = case.size
    url = escape(case.url)
    return (f'<figure class="card"><a href="{url}"><img src="{url}" width="{width}" height="{height}" alt="{escape(case.caption)}"'
            f' loading="lazy"></a><figcaption><strong>{escape(case.caption)}</strong>'
            f'<span>{width} × {height} · {kind(case)} · <b>{size(reply)}</b></span><code>{breakable(case.url)}</code>'
            f'<button type="button" class="try" value="{url}" aria-label="Try it: {escape(case.caption)}">Try it</button>'
            "</figcaption></figure>")


def table(section, server):
    """Returns the HTML of a section of the list of all URLs."""
    rows = []
    for case in section.cases:
        reply = server.get(case.url)
        said = f"{case.size[0]} × {case.size[1]} · {kind(case)} · {size(reply)}" if case.size else escape(reply.body.decode("utf-8", "replace").strip())
        url = escape(case.url)
        rows.append(f'<tr><td>{escape(case.caption)}</td><td><a href="{url}"><code>{breakable(case.url)}</code></a></td>'
                    f"<td>{reply.status}</td><td>{said}</td></tr>")
    return (f'<h3>{escape(section.heading)}</h3><p>{escape(section.text)}</p><div class="scroll" tabindex="0" role="group"'
            f' aria-label="{escape(section.heading)}"><table><thead><tr><th>What</th><th>URL</th><th>Status</th><th>Answer</th></tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div>')


def kind(case):
    return case.type.removeprefix("image/").upper().replace("WEBP", "WebP")


def size(reply):
    """Formats the length of a response with three digits."""
    count = len(reply.body)
    for unit, least in (("MB", 1e6), ("KB", 1e3)):
        if count >= least:
            return f"{float(f'{count / least:.3g}'):g} {unit}"
    return f"{count} B"


def escape(text):
    return html.escape(text)


def breakable(url):
    """Returns a URL as HTML with possible line breaks between its parts."""
    return re.sub(r"([,/?&]|&amp;)(?!amp;)", r"\1<wbr>", escape(url))
