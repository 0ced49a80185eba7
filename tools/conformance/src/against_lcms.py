"""Charts in several spaces, and what Little CMS (through Pillow) makes of them in sRGB: NAME.EXT and NAME.expected.png.

against_lcms.py SAMPLES CONFORMANCE FOLDER
"""
import io, struct, sys, zlib
from pathlib import Path
from PIL import Image, ImageCms

samples, conformance, folder = map(Path, sys.argv[1:])
PATCH = 8


def gray_profile():
    """Returns a curve with a power of 1.8."""
    s15 = lambda *values: b"".join(struct.pack(">i", round(value * 65536)) for value in values)
    text = b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, 8, 28) + "gray".encode("utf-16-be")
    white = b"XYZ " + bytes(4) + s15(0.9642, 1, 0.8249)
    tags = [(b"desc", text), (b"cprt", text), (b"wtpt", white), (b"kTRC", b"para" + struct.pack(">IHH", 0, 0, 0) + s15(1.8))]
    table, data, at = b"", b"", 128 + 4 + 12 * len(tags)
    for name, body in tags:
        body += bytes(-len(body) % 4)
        table += name + struct.pack(">II", at + len(data), len(body))
        data += body
    head = struct.pack(">I4sI4s4s4s12x4s28x12s4x44x", at + len(data), b"", 0x04300000, b"mntr", b"GRAY", b"XYZ ", b"acsp",
                       s15(0.9642, 1, 0.8249))
    return head + struct.pack(">I", len(tags)) + table + data


def chart(mode, steps):
    """Returns every combination of this many steps of each channel, one patch each."""
    levels = [round(255 * step / (steps - 1)) for step in range(steps)]
    colours = [()]
    for _ in mode:
        colours = [colour + (level,) for colour in colours for level in levels]
    across = int(len(colours) ** 0.5 + 0.999)
    image = Image.new(mode, (across, across))
    image.putdata([colour if len(mode) > 1 else colour[0] for colour in colours])
    return image.resize((across * PATCH, across * PATCH), Image.Resampling.NEAREST)


def to_srgb(image, icc):
    source = ImageCms.ImageCmsProfile(io.BytesIO(icc))
    transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), image.mode, "RGB",
                                        ImageCms.Intent.RELATIVE_COLORIMETRIC)
    return ImageCms.applyTransform(image, transform)


def expect(path, turned=None):
    image = Image.open(path)
    image.load()
    expected = to_srgb(image, image.info["icc_profile"])
    if turned is not None:
        expected = expected.transpose(turned)
    expected.save(path.with_name(path.stem + ".expected.png"))


def png16(image, icc):
    """Writes RGB of 16 bits, which Pillow cannot."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    width, height = image.size
    raw = image.tobytes()
    rows = b"".join(
        b"\0" + bytes(byte for value in raw[3 * width * y : 3 * width * (y + 1)] for byte in (value, value))
        for y in range(height)
    )
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0))
            + chunk(b"iCCP", b"icc\0\0" + zlib.compress(icc)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


p3 = Image.open(samples / "hdr/colour.jpg").info["icc_profile"]
adobe = Image.open(samples / "png/icc-adobe-rgb.png").info["icc_profile"]
for name, icc in [("p3", p3), ("adobe-rgb", adobe)]:
    chart("RGB", 9).save(folder / f"{name}.png", icc_profile=icc)
    expect(folder / f"{name}.png")
lossless = dict(quality=100, subsampling=0)
exif = Image.Exif()
exif[0x112] = 6
chart("RGB", 7).save(folder / "p3-turned.jpg", icc_profile=p3, exif=exif, **lossless)
expect(folder / "p3-turned.jpg", Image.Transpose.ROTATE_270)
(folder / "p3-16-bit.png").write_bytes(png16(chart("RGB", 5), p3))
to_srgb(chart("RGB", 5), p3).save(folder / "p3-16-bit.expected.png")
chart("L", 256).save(folder / "gray.png", icc_profile=gray_profile())
expect(folder / "gray.png")
swop = conformance / "colour/sharp/Channel_digital_image_CMYK_color.jpg"
if swop.exists():
    swop = Image.open(swop).info["icc_profile"]
    chart("CMYK", 6).save(folder / "cmyk.tif", icc_profile=swop, compression="tiff_lzw")
    expect(folder / "cmyk.tif")
    # As Photoshop does: an Adobe marker, and 255 for no ink.
    chart("CMYK", 5).save(folder / "cmyk-inverted.jpg", icc_profile=swop, **lossless)
    expect(folder / "cmyk-inverted.jpg")
