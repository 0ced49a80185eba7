"""Sources: the samples, sets of files beside the repository, and files of less than 100 KB that are large once decoded."""

import pathlib
import struct
import subprocess
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Files of other folders, if these exist: those of the conformance set, and hostile ones.
BESIDE = [ROOT.parent / "shared" / "conformance", ROOT.parent / "shared" / "cases" / "hostile"]

# Maximum size of a hostile file.
SMALL = 100_000

IMAGES = {
    ".apng", ".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".jpeg", ".jpg", ".jxl", ".pdf", ".png", ".psd", ".svg", ".svgz",
    ".tif", ".tiff", ".webp", ".dng", ".cr2", ".nef", ".arw",
}


def files(folders):
    """Yields every image below these folders."""
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix.lower() in IMAGES and path.is_file():
                yield path


def make(folder, andon):
    """Writes small files with many pixels, and tiny ones, into a folder. Andon's own encoder writes each format."""
    folder = pathlib.Path(folder)
    write = lambda name, data: (folder / name).write_bytes(data)
    write("1.png", png(1, 1, lambda y: b"\x40\x80\xc0"))
    write("64.png", png(64, 64, lambda y: bytes((x * 37 + y * 91 + x * y) & 255 for x in range(64) for _ in range(3))))
    write("opaque-4m.png", png(2000, 2000, striped(2000, 3)))
    write("alpha-4m.png", png(2000, 2000, striped(2000, 4), colour=6))
    write("wide-8m.png", png(16_000, 500, striped(16_000, 3)))
    # The maximum number of pixels of a file, with two bits each.
    write("flat-9m.png", png(3000, 3000, lambda y: b"\x90\xa0\xb0" * 3000))
    write("gray-100m.png", png(10_000, 10_000, lambda y: bytes([0x1B if y % 64 else 0xE4]) * 2_500, colour=0, depth=2))
    write("moves-200m.gif", gif(630, 630, 500))
    write("moves-1m.gif", gif(64, 64, 250))
    for name, recipe in {
        "9m.jpg": "as:jpeg,q:60",
        "9m-progressive.jpg": "as:jpeg,q:60,progressive",
        "9m.webp": "as:webp,q:60",
        "9m-lossless.webp": "as:webp,lossless",
        "9m.avif": "as:avif,q:50",
        "9m.jxl": "as:jxl,q:60",
        "9m-lossless.jxl": "as:jxl,lossless",
        "9m.tif": "as:tiff",
    }.items():
        made = folder / "made"
        made.mkdir(exist_ok=True)
        subprocess.run([andon, "convert", recipe, folder / "flat-9m.png", "-o", made], capture_output=True, check=False)
        for path in made.iterdir():
            path.rename(folder / name)
        made.rmdir()
    return [path for path in sorted(folder.iterdir()) if path.stat().st_size <= SMALL]


def striped(width, channels):
    """Returns rows that are almost empty when compressed, but that no encoder treats as empty."""
    def row(y):
        period = bytes((x * 11 + y // 16 * 29) & 255 for x in range(48 * channels))
        return (period * (width * channels // len(period) + 1))[: width * channels]
    return row


def png(width, height, row, colour=2, depth=8):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(b"\0" + row(y)) for y in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def gif(width, height, frames):
    """Returns an animation in which each frame changes one pixel."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF0, 0, 0) + bytes([0, 0, 0, 255, 255, 255])
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    # One pixel of colour 1: the codes clear, 1 and end, of three bits each.
    frame = lambda at: (
        b"\x21\xf9\x04\x04\x05\0\0\0" + b"," + struct.pack("<HHHHB", at % width, at * 7 % height, 1, 1, 0) + b"\x02\x02\x4c\x01\0")
    return head + loop + b"".join(map(frame, range(frames))) + b";"
