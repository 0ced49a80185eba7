#!/usr/bin/env python3
"""Fetches every URL of urls.txt from a running server and judges the responses with Pillow, a decoder that
Andon does not use.

    demo.py check BASE     a table on stdout; exit status 1 if one reply is wrong
    demo.py page BASE OUT  the show-room, with the sizes of the responses, and its files beside it
"""

import http.client
import io
import struct
import sys
import time
import urllib.parse
from pathlib import Path

import showroom
from PIL import Image, ImageChops, ImageStat

COLOUR_TOLERANCE = 24  # of 255, per channel: JPEG at q=75 beside an edge
IMAGE_TOLERANCE = 6  # mean of 255, both seen at 16 px


def main():
    task, base = sys.argv[1], sys.argv[2]
    sections = read_list(Path(__file__).with_name("urls.txt"))
    server = Server(base)
    if task == "check":
        sys.exit(check(sections, server))
    showroom.write(sections, server, Path(sys.argv[3]))


class Case:
    """One line of urls.txt."""

    def __init__(self, line):
        facts, _, self.caption = (part.strip() for part in line.partition("|"))
        self.url, status, self.type, size, *self.checks = facts.split()
        self.status = int(status)
        self.size = None if size == "-" else tuple(map(int, size.split("x")))


def read_list(path):
    """Returns the sections of the list."""
    sections = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            sections.append(Section(line))
        elif line and not line.startswith("#"):
            sections[-1].cases.append(Case(line))
    return sections


class Section:
    """A section of urls.txt: a heading, and the lines below it."""

    def __init__(self, line):
        marks, _, rest = line.partition(" ")
        self.heading, _, self.text = (part.strip() for part in rest.partition("|"))
        self.is_shown = len(marks) == 3
        self.cases = []


class Reply:
    """The response to one URL."""

    def __init__(self, status, media_type, body, seconds):
        self.status, self.type, self.body, self.seconds = status, media_type, body, seconds

    def decode(self):
        """Decodes all pixels. Raises an exception if the image is broken in any way."""
        image = Image.open(io.BytesIO(self.body))
        image.load()
        return image

    def true_type(self):
        """Returns the media type, judging by the bytes themselves."""
        if self.body[4:12] == b"ftypavif":
            return "image/avif"
        return Image.MIME[Image.open(io.BytesIO(self.body)).format]

    def size(self):
        """Returns width and height in px. For AVIF, which Debian's Pillow does not read, they are those of its `ispe` box."""
        if self.true_type() == "image/avif":
            place = self.body.index(b"ispe") + 8
            return struct.unpack(">II", self.body[place : place + 8])
        return Image.open(io.BytesIO(self.body)).size


class Server:
    """The server under test, which is asked for each URL once."""

    def __init__(self, base):
        self.host = urllib.parse.urlsplit(base).netloc
        self.replies = {}

    def get(self, url):
        if url not in self.replies:
            # The path is sent exactly as in the list: urllib would escape the parentheses.
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
    """Returns everything that is wrong with the response to one case."""
    reply = server.get(case.url)
    wrong = []
    if reply.status != case.status:
        wrong.append(f"status {reply.status}, not {case.status}")
    if reply.type != case.type:
        wrong.append(f"type {reply.type}, not {case.type}")
    if wrong or case.size is None:
        return wrong
    try:
        size = reply.size()
        image = None if case.type == "image/avif" else reply.decode()
    except Exception as error:  # Pillow raises many kinds
        return [f"does not decode: {error}"]
    if reply.true_type() != case.type:
        wrong.append(f"is {reply.true_type()} in truth")
    if size != case.size:
        wrong.append(f"size {size[0]}x{size[1]}, not {case.size[0]}x{case.size[1]}")
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
    """Returns the mean difference of two images, laid over gray and reduced to 16x16."""
    small = []
    for one in (image, other):
        one = one.convert("RGBA")
        ground = Image.new("RGBA", one.size, (128, 128, 128, 255))
        ground.alpha_composite(one)
        small.append(ground.convert("RGB").resize((16, 16), Image.Resampling.BOX))
    return sum(ImageStat.Stat(ImageChops.difference(*small)).mean) / 3


def check_like(image, _reply, url, server):
    far = distance(image, server.get(url).decode())
    return f"{far:.1f} away from {url}" if far > IMAGE_TOLERANCE else None


def check_unlike(image, _reply, url, server):
    far = distance(image, server.get(url).decode())
    return f"only {far:.1f} away from {url}" if far <= IMAGE_TOLERANCE else None


def check_mode(image, _reply, mode, _server):
    return f"mode {image.mode}, not {mode}" if image.mode != mode else None


def check_interlaced(image, _reply, _value, _server):
    found = any(image.info.get(key) for key in ("progressive", "interlace"))
    return None if found else "not interlaced"


def check_bytes(_image, reply, url, server):
    return None if reply.body == server.get(url).body else f"not the bytes of {url}"


def check_smaller(image, reply, url, server):
    original = server.get(url)
    if len(reply.body) >= len(original.body):
        return f"{len(reply.body)} bytes, and {url} has {len(original.body)}"
    return image and check_like(image, reply, url, server)


CHECKS = {
    "at": check_colour,
    "like": check_like,
    "unlike": check_unlike,
    "mode": check_mode,
    "interlaced": check_interlaced,
    "bytes": check_bytes,
    "smaller": check_smaller,
}


def pixels(reply):
    """Returns the response's size as `240x160`, or `-` if it is no image."""
    if not reply.type.startswith("image/"):
        return "-"
    try:
        return "{}x{}".format(*reply.size())
    except Exception:
        return "broken"


def check(sections, server):
    """Prints the table and returns the exit status."""
    cases = [case for section in sections for case in section.cases]
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


if __name__ == "__main__":
    main()
