"""Sample images, read once."""

import struct
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def sample_photos() -> list[bytes]:
    """What a site serves every day: 1 to 2 megapixels."""
    return [path.read_bytes() for path in sorted((SAMPLES / "photos").glob("*.jpg"))]


@pytest.fixture(scope="session")
def otter() -> bytes:
    return sample("photos/otter.jpg")


def poison() -> list[bytes]:
    """Drawings that end or hold a renderer which looks no closer: chains of references, of elements, of selectors."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    pattern = '<pattern id="p{}" width="9" height="9"><rect width="9" height="9" fill="url(#p{})"/></pattern>'
    references = "".join(pattern.format(at, at + 1) for at in range(2000)) + '<rect width="9" height="9" fill="url(#p0)"/>'
    elements = "<g>" * 20_000 + "</g>" * 20_000
    selectors = f"<style>{('g ' * 14 + '{fill:red}') * 20}</style>" + "<g>" * 180 + "</g>" * 180
    return [f"{head}{inside}</svg>".encode() for inside in (references, elements, selectors)] + [page_within_a_page()]


def page_within_a_page() -> bytes:
    """A TIFF of 64 × 64 pixels whose only strip is a JPEG that says it has 60000 × 60000."""
    # Start, one component of eight bits with its tables left out, and nothing after the frame's header.
    strip = b"\xff\xd8\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 60000, 60000) + b"\x01\x01\x11\x00\xff\xd9"
    tags = [(256, 64), (257, 64), (258, 8), (259, 7), (262, 1), (273, 8), (277, 1), (278, 64), (279, len(strip))]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    directory = 8 + len(strip)
    return struct.pack("<2sHI", b"II", 42, directory) + strip + struct.pack("<H", len(tags)) + entries + bytes(4)
