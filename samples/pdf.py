#!/usr/bin/env python3
"""Writes pdf/page.pdf: two pages, the first of which has a photo, outlines, text and a transparent circle.

    samples/pdf.py
    pdftoppm -png -r 72 -singlefile samples/pdf/page.pdf samples/pdf/page      # poppler's drawing of it
"""
import pathlib
import zlib

folder = pathlib.Path(__file__).parent
photo = folder / "jpeg/420.jpg"


def size(jpeg):
    """Returns width and height from the frame header."""
    at = 2
    while True:
        kind, length = jpeg[at + 1], int.from_bytes(jpeg[at + 2 : at + 4], "big")
        if 0xC0 <= kind <= 0xC2:
            return int.from_bytes(jpeg[at + 7 : at + 9], "big"), int.from_bytes(jpeg[at + 5 : at + 7], "big")
        at += 2 + length


jpeg = photo.read_bytes()
width, height = size(jpeg)

# Returns the path of a circle of four Bézier curves, at (cx, cy) with radius r.
def circle(cx, cy, r):
    k = 0.5523 * r
    return (
        f"{cx + r} {cy} m {cx + r} {cy + k} {cx + k} {cy + r} {cx} {cy + r} c "
        f"{cx - k} {cy + r} {cx - r} {cy + k} {cx - r} {cy} c "
        f"{cx - r} {cy - k} {cx - k} {cy - r} {cx} {cy - r} c "
        f"{cx + k} {cy - r} {cx + r} {cy - k} {cx + r} {cy} c"
    )


first = f"""
1 0 0 rg 10 110 40 30 re f
0 0 1 rg 60 110 40 30 re f
0 0.5 0 RG 4 w 110 112 40 26 re S
q 100 0 0 56.25 10 40 cm /Photo Do Q
/Half gs 1 0.5 0 rg {circle(140, 70, 30)} f
/Solid gs 0 g BT /F 18 Tf 10 12 Td (Andon, page 1) Tj ET
""".encode()
second = b"BT /F 18 Tf 10 12 Td (page 2) Tj ET"


def stream(data, entries=""):
    packed = zlib.compress(data, 9)
    return f"<< /Length {len(packed)} /Filter /FlateDecode {entries}>>\nstream\n".encode() + packed + b"\nendstream"


page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 150] /Resources 5 0 R /Contents {} 0 R >>"
objects = [
    b"<< /Type /Catalog /Pages 2 0 R >>",
    b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
    page.format(6).encode(),
    page.format(7).encode(),
    b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << /Photo 8 0 R >>"
    b" /ExtGState << /Half << /ca 0.5 >> /Solid << /ca 1 >> >> >>",
    stream(first),
    stream(second),
    f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB /BitsPerComponent 8"
    f" /Filter /DCTDecode /Length {len(jpeg)} >>\nstream\n".encode() + jpeg + b"\nendstream",
]
out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
places = []
for number, body in enumerate(objects, 1):
    places.append(len(out))
    out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
xref = len(out)
out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
for place in places:
    out += f"{place:010} 00000 n \n".encode()
out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n".encode()
(folder / "pdf/page.pdf").write_bytes(out)
