#!/usr/bin/python3
"""Creates the photos with gain maps of samples/hdr: charts with known results, in the forms that phones and editors
write. Needs Pillow. Run by samples/make; `samples/ultra-hdr.py FOLDER` runs it alone.

Each shows a grey ramp over eight colours, and its map brightens the right half: every step of the ramp has a step of
the map. gray.jpg has the form that phones write (a map with a quarter of the sides, only XMP), colour.jpg that of editors (a map
of three colours with half the sides, only ISO 21496-1, Display P3), turned.jpg is gray.jpg with an EXIF orientation.
"""
import io, struct, sys
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 320, 240
XMP = b"http://ns.adobe.com/xap/1.0/\0"
ISO = b"urn:iso:std:iso:ts:21496:-1\0"
HDRGM = 'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"'


def chart():
    image = Image.new("RGB", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(image)
    colours = ["#c02020", "#20a020", "#2040c0", "#e0c020", "#20b0c0", "#b030b0", "#f0f0f0", "#202020"]
    for step in range(8):
        box = (step * WIDTH // 8, 0, (step + 1) * WIDTH // 8 - 1, HEIGHT // 2 - 1)
        draw.rectangle(box, fill=(16 + 30 * step,) * 3)
        draw.rectangle((box[0], HEIGHT // 2, box[2], HEIGHT - 1), fill=colours[step])
    return image


def gains(mode, size):
    image = Image.new(mode, size)
    draw = ImageDraw.Draw(image)
    for step in range(4):
        value = 60 + 60 * step
        fill = value if mode == "L" else (value, value - 20, value - 40)
        box = (size[0] // 2 + step * size[0] // 8, 0, size[0] // 2 + (step + 1) * size[0] // 8 - 1, size[1] - 1)
        draw.rectangle(box, fill=fill)
    return image


def jpeg(image, segments=(), **options):
    out = io.BytesIO()
    image.save(out, "JPEG", optimize=True, **options)
    file = out.getvalue()
    at = 2
    while file[at + 1] in range(0xE0, 0xF0):
        at += 2 + struct.unpack(">H", file[at + 2 : at + 4])[0]
    inserted = b"".join(struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body for marker, body in segments)
    return file[:at] + inserted + file[at:], at + len(inserted)


def packet(attributes, inside=""):
    return XMP + (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" {attributes}>{inside}</rdf:Description></rdf:RDF></x:xmpmeta>'
    ).encode()


def directory(length):
    items = "".join(
        f'<rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="{semantic}" Item:Mime="image/jpeg"{more}/></rdf:li>'
        for semantic, more in [("Primary", ""), ("GainMap", f' Item:Length="{length}"')]
    )
    return packet(
        'xmlns:Container="http://ns.google.com/photos/1.0/container/" '
        'xmlns:Item="http://ns.google.com/photos/1.0/container/item/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" ' + HDRGM,
        "<dc:rights><rdf:Alt><rdf:li xml:lang='x-default'>CC0</rdf:li></rdf:Alt></dc:rights>"
        f"<Container:Directory><rdf:Seq>{items}</rdf:Seq></Container:Directory>",
    )


def index(first, at, second, order=">"):
    """Returns the MPF index. `first` is the size of the first image in bytes, `at` the offset of the index's header in it."""
    head = b"MM\0*" if order == ">" else b"II*\0"
    body = head + struct.pack(order + "IH", 8, 3)
    body += struct.pack(order + "HHI4s", 0xB000, 7, 4, b"0100")
    body += struct.pack(order + "HHII", 0xB001, 4, 1, 2)
    body += struct.pack(order + "HHIII", 0xB002, 7, 32, 50, 0)
    for attributes, size, offset in [(0x030000, first, 0), (0, second, max(first - at, 0))]:
        body += struct.pack(order + "IIIHH", attributes, size, offset, 0, 0)
    return b"MPF\0" + body


def joined(image, map_file, segments, order=">", **options):
    placeholder = segments + [(0xE2, index(0, 0, 0, order))]
    file, end = jpeg(image, placeholder, **options)
    at = end - 82
    final = segments + [(0xE2, index(len(file), at, len(map_file), order))]
    return jpeg(image, final, **options)[0] + map_file


def fraction(above, below):
    return struct.pack(">iI", above, below)


def iso(channels):
    body = struct.pack(">HHB", 0, 0, 0x80 | 0x40 if len(channels) == 3 else 0x40)
    body += fraction(0, 1) + fraction(13, 10)
    for least, most, gamma in channels:
        body += fraction(*least) + fraction(*most) + fraction(*gamma) + fraction(1, 64) + fraction(1, 64)
    return body


def display_p3():
    """Returns an ICC profile: colorants adapted to D50, and sRGB's curve."""
    s15 = lambda *values: b"".join(struct.pack(">i", round(value * 65536)) for value in values)
    text = lambda text: b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, 2 * len(text), 28) + text.encode("utf-16-be")
    xyz = lambda *values: b"XYZ " + bytes(4) + s15(*values)
    curve = b"para" + struct.pack(">IHH", 0, 3, 0) + s15(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    tags = [(b"desc", text("Display P3")), (b"cprt", text("CC0")), (b"wtpt", xyz(0.9642, 1, 0.8249)),
            (b"rXYZ", xyz(0.51512, 0.2412, -0.00105)), (b"gXYZ", xyz(0.29198, 0.69225, 0.04189)),
            (b"bXYZ", xyz(0.1571, 0.06657, 0.78407)), (b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve)]
    table, data, at = b"", b"", 128 + 4 + 12 * len(tags)
    for name, body in tags:
        body += bytes(-len(body) % 4)
        table += name + struct.pack(">II", at + len(data), len(body))
        data += body
    head = struct.pack(">I4sI4s4s4s12x4s4x4x4x4x8x4x12s4x44x", at + len(data), b"", 0x04300000, b"mntr", b"RGB ", b"XYZ ",
                       b"acsp", s15(0.9642, 1, 0.8249))
    assert len(head) == 128
    return head + struct.pack(">I", len(tags)) + table + data


folder = sys.argv[1]
values = {"GainMapMin": "-0.1", "GainMapMax": "2.25", "Gamma": "0.9", "OffsetSDR": "0.015625",
          "OffsetHDR": "0.03125", "HDRCapacityMin": "0", "HDRCapacityMax": "2.250", "BaseRenditionIsHDR": "False"}
acts = packet(HDRGM + "".join(f' hdrgm:{name}="{value}"' for name, value in values.items()))
phone, _ = jpeg(gains("L", (WIDTH // 4, HEIGHT // 4)), [(0xE1, acts)], quality=90)
exif = Image.Exif()
for name, orientation in [("gray.jpg", 1), ("turned.jpg", 6)]:
    exif[0x112] = orientation
    file = joined(chart(), phone, [(0xE1, directory(len(phone)))], "<", quality=88, subsampling=2, exif=exif)
    open(f"{folder}/{name}", "wb").write(file)

channels = [((-256907, 1000000), (1277177, 1000000), (119223, 125000)),
            ((-52273, 200000), (1277203, 1000000), (188219, 200000)),
            ((-70071, 250000), (1277969, 1000000), (459711, 500000))]
editor, _ = jpeg(gains("RGB", (WIDTH // 2, HEIGHT // 2)), [(0xE2, ISO + iso(channels))], quality=92, subsampling=0)
file = joined(chart(), editor, [(0xE2, ISO + bytes(4))], quality=90, subsampling=0, icc_profile=display_p3())
open(f"{folder}/colour.jpg", "wb").write(file)
