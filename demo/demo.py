#!/usr/bin/env python3
"""Fetches every URL of urls.txt from a running server and judges the replies with Pillow, a decoder that
Andon does not use.

    demo.py check BASE     a table on stdout; exit status 1 if one reply is wrong
    demo.py page BASE OUT  the demo's page, with the sizes of the responses
"""

import html
import http.client
import io
import re
import sys
import time
import urllib.parse
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

COLOUR_TOLERANCE = 24  # of 255, per channel: JPEG at q=75 beside an edge
PICTURE_TOLERANCE = 6  # mean of 255, both seen at 16 px
ORIGINALS_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def main():
    task, base = sys.argv[1], sys.argv[2]
    sections = read_list(Path(__file__).with_name("urls.txt"))
    server = Server(base)
    if task == "check":
        sys.exit(check(sections, server))
    Path(sys.argv[3]).write_text(page(sections, server), encoding="utf-8")


class Case:
    """One line of urls.txt."""

    def __init__(self, line):
        facts, _, self.caption = (part.strip() for part in line.partition("|"))
        self.url, status, self.type, size, *self.checks = facts.split()
        self.status = int(status)
        self.size = None if size == "-" else tuple(map(int, size.split("x")))


def read_list(path):
    """The sections of the list: (heading, text, cases)."""
    sections = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            heading, _, text = line[3:].partition("|")
            sections.append((heading.strip(), text.strip(), []))
        elif line and not line.startswith("#"):
            sections[-1][2].append(Case(line))
    return sections


class Reply:
    """What came back for one URL."""

    def __init__(self, status, media_type, body, seconds):
        self.status, self.type, self.body, self.seconds = status, media_type, body, seconds

    def decode(self):
        """Every pixel; raises when the image is broken in any way."""
        image = Image.open(io.BytesIO(self.body))
        image.load()
        return image

    def true_type(self):
        """The media type of the bytes themselves."""
        return Image.MIME[Image.open(io.BytesIO(self.body)).format]


class Server:
    """The server under test; asks each URL once."""

    def __init__(self, base):
        self.host = urllib.parse.urlsplit(base).netloc
        self.replies = {}

    def get(self, url):
        if url not in self.replies:
            # The raw path, as it stands in the list: urllib would escape the parentheses.
            connection = http.client.HTTPConnection(self.host, timeout=20)
            start = time.monotonic()
            connection.request("GET", url)
            answer = connection.getresponse()
            body = answer.read()
            seconds = time.monotonic() - start
            media_type = (answer.getheader("Content-Type") or "").partition(";")[0]
            self.replies[url] = Reply(answer.status, media_type, body, seconds)
            connection.close()
        return self.replies[url]


def faults(case, server):
    """Everything that is wrong with the reply to one case."""
    reply = server.get(case.url)
    wrong = []
    if reply.status != case.status:
        wrong.append(f"status {reply.status}, not {case.status}")
    if reply.type != case.type:
        wrong.append(f"type {reply.type}, not {case.type}")
    if wrong or case.size is None:
        return wrong
    try:
        image = reply.decode()
    except Exception as error:  # Pillow raises many kinds
        return [f"does not decode: {error}"]
    if reply.true_type() != case.type:
        wrong.append(f"is {reply.true_type()} in truth")
    if image.size != case.size:
        wrong.append(f"size {image.size[0]}x{image.size[1]}, not {case.size[0]}x{case.size[1]}")
    for item in case.checks:
        name, _, value = item.partition("=")
        fault = CHECKS[name](image, reply, value, server)
        if fault:
            wrong.append(fault)
    return wrong


def check_colour(image, _reply, value, _server):
    place, _, want = value.partition(":")
    x, y = map(int, place.split(","))
    want = tuple(bytes.fromhex(want))
    have = image.convert("RGBA").getpixel((x, y))
    if len(want) == 4 and want[3] == 0:  # no colour where nothing is seen
        have, want = have[3:], want[3:]
    if any(abs(a - b) > COLOUR_TOLERANCE for a, b in zip(have, want)):
        return f"{place} is {bytes(have).hex()}, not {bytes(want).hex()}"
    return None


def distance(image, other):
    """The mean difference of two images on gray ground, both seen at 16x16."""
    small = []
    for picture in (image, other):
        picture = picture.convert("RGBA")
        ground = Image.new("RGBA", picture.size, (128, 128, 128, 255))
        ground.alpha_composite(picture)
        small.append(ground.convert("RGB").resize((16, 16), Image.Resampling.BOX))
    return sum(ImageStat.Stat(ImageChops.difference(*small)).mean) / 3


def check_like(image, _reply, url, server):
    far = distance(image, server.get(url).decode())
    return f"{far:.1f} away from {url}" if far > PICTURE_TOLERANCE else None


def check_unlike(image, _reply, url, server):
    far = distance(image, server.get(url).decode())
    return f"only {far:.1f} away from {url}" if far <= PICTURE_TOLERANCE else None


def check_mode(image, _reply, mode, _server):
    return f"mode {image.mode}, not {mode}" if image.mode != mode else None


def check_interlaced(image, _reply, _value, _server):
    found = any(image.info.get(key) for key in ("progressive", "interlace"))
    return None if found else "not interlaced"


def check_bytes(_image, reply, url, server):
    return None if reply.body == server.get(url).body else f"not the bytes of {url}"


CHECKS = {
    "at": check_colour,
    "like": check_like,
    "unlike": check_unlike,
    "mode": check_mode,
    "interlaced": check_interlaced,
    "bytes": check_bytes,
}


def pixels(reply):
    """The reply's size as `240x160`, `-` when it is no image."""
    if reply.type not in ORIGINALS_TYPES:
        return "-"
    try:
        return "{}x{}".format(*Image.open(io.BytesIO(reply.body)).size)
    except Exception:
        return "broken"


def check(sections, server):
    """Prints the table; returns the exit status."""
    cases = [case for _, _, cases in sections for case in cases]
    width = max(len(case.url) for case in cases)
    print(f"{'URL':{width}}  status  {'type':10}  {'px':>9}  {'bytes':>7}  {'ms':>5}  ok")
    bad = 0
    for case in cases:
        wrong = faults(case, server)
        reply = server.get(case.url)
        bad += bool(wrong)
        print(f"{case.url:{width}}  {reply.status:6}  {reply.type:10}  {pixels(reply):>9}"
              f"  {len(reply.body):7}  {reply.seconds * 1000:5.0f}  {'; '.join(wrong) or 'ok'}")
    print(f"\n{len(cases)} URLs, {len(cases) - bad} right, {bad} wrong")
    return 1 if bad or not cases else 0


def page(sections, server):
    """The demo's page: an index, a field to try URLs, every image at its true size. Only the field needs a script."""
    body = ["<nav><ol>"]
    for number, (heading, _, _) in enumerate(sections, 1):
        body.append(f'<li><a href="#s{number}">{html.escape(heading)}</a></li>')
    body.append("</ol></nav>")
    for number, (heading, text, cases) in enumerate(sections, 1):
        body.append(f'<section id="s{number}"><h2>{html.escape(heading)}</h2>')
        if text:
            body.append(f"<p>{html.escape(text)}</p>")
        pictures = [case for case in cases if case.size]
        if pictures:
            body.append('<div class="cards">')
            body.extend(card(case, server.get(case.url)) for case in pictures)
            body.append("</div>")
        errors = [case for case in cases if not case.size]
        if errors:
            body.append("<table><tr><th>URL</th><th>status</th><th>answer</th></tr>")
            body.extend(error_row(case, server.get(case.url)) for case in errors)
            body.append("</table>")
        body.append("</section>")
    first = next(case.url for _, _, cases in sections for case in cases if case.size)
    return PAGE.replace("FIRST", html.escape(first)).replace("BODY", "\n".join(body))


def card(case, reply):
    url = html.escape(case.url)
    shown_url = re.sub(r"([,/])", r"\1<wbr>", url)
    kind = case.type.removeprefix("image/").upper().replace("WEBP", "WebP")
    width, _, height = pixels(reply).partition("x")
    size = f"{width} × {height}"
    return (f'<figure><a href="{url}"><img src="{url}" width="{width}" height="{height}"'
            f' alt="{html.escape(case.caption)}" loading="lazy"></a>'
            f"<figcaption>{html.escape(case.caption)}<br><b>{size} px</b> · {len(reply.body):,} bytes · {kind}"
            f'<br><a href="{url}"><code>{shown_url}</code></a></figcaption></figure>')


def error_row(case, reply):
    url = html.escape(case.url)
    answer = html.escape(reply.body.decode("utf-8", "replace").strip())
    return (f'<tr><td>{html.escape(case.caption)}<br><a href="{url}"><code>{url}</code></a></td>'
            f"<td>{reply.status}</td><td>{answer}</td></tr>")


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Andon: the demo</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1rem; color: #263238; background: #fafafa; }
h1 { margin: 1rem 0 0; } h2 { margin: 2.5rem 0 0; border-bottom: 1px solid #cfd8dc; } p { margin: .3rem 0; }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; margin-top: 1rem; }
figure { margin: 0; padding: .75rem; background: #fff; border: 1px solid #e0e0e0; border-radius: 6px; max-width: 100%; box-sizing: border-box; }
figure img { max-width: 100%; height: auto; display: block; background: repeating-conic-gradient(#e8e8e8 0 25%, #fff 0 50%) 0 0 / 16px 16px; }
figcaption { margin-top: .5rem; font-size: .85rem; max-width: 20rem; }
nav ol { columns: 18rem; padding-left: 1.5rem; }
form { display: flex; gap: .5rem; margin-top: 1rem; } form input { flex: 1; min-width: 0; font: .85rem ui-monospace, monospace; padding: .4rem; }
output { display: block; margin-top: .5rem; font-size: .85rem; white-space: pre-wrap; } output img { display: block; max-width: 100%; margin-bottom: .5rem; }
code { font-size: .75rem; overflow-wrap: anywhere; } a { color: #00695c; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin-top: 1rem; }
td, th { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid #e0e0e0; }
</style>
</head>
<body>
<h1>Andon</h1>
<p>The server made every image on this page on request, and each is shown at its true size, or at the width of the
page if it is larger. The examples are listed in <code>demo/urls.txt</code>, the configuration is
<code>demo/andon.toml</code>.</p>
<form id="try">
<input name="url" value="FIRST" aria-label="Path of an image, with options" spellcheck="false" autocomplete="off">
<button>Show</button>
</form>
<output id="shown"></output>
BODY
<p style="margin-top:3rem;font-size:.85rem">Photographs: Aitzol Berasategi (sunset, picos; CC BY 4.0, scaled),
Clemens Engelhardt (dandelion; CC0), budgie-backgrounds (otter, osprey, colosseum, wren; CC0). See
<code>samples/README.md</code>.</p>
<script>
document.getElementById("try").addEventListener("submit", async event => {
  event.preventDefault();
  const url = event.target.elements.url.value.trim();
  const shown = document.getElementById("shown");
  try {
    const response = await fetch(url.startsWith("/") ? url : "/" + url);
    const body = await response.blob();
    const type = response.headers.get("Content-Type") || "";
    if (!type.startsWith("image/")) {
      shown.textContent = `${response.status} ${await body.text()}`;
      return;
    }
    const image = new Image();
    image.src = URL.createObjectURL(body);
    await image.decode();
    shown.replaceChildren(image, `${image.naturalWidth} × ${image.naturalHeight} px · ${body.size.toLocaleString("en")} bytes · ${type}`);
  } catch (error) {
    shown.textContent = String(error);
  }
});
</script>
</body>
</html>
"""

if __name__ == "__main__":
    main()
