"""Images from files: samples of colours, and the cases of ../shared if that folder exists."""
import shutil
from pathlib import Path

from PIL import Image

from sources import Source

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
COLOURS = ["samples/hdr/colour.jpg", "samples/hdr/gray.jpg", "samples/hdr/turned.jpg", "samples/jpeg/orientation-6.jpg",
           "samples/jpeg/icc-adobe-rgb.jpg", "samples/png/icc-adobe-rgb.png", "samples/png/16-bit.png", "samples/jpeg/cmyk.jpg",
           "samples/jpeg/ycck.jpg"]
SHARED_COLOURS = ["colour/sharp/Channel_digital_image_CMYK_color.jpg", "gainmap/libavif/seine_sdr_gainmap_srgb.jpg",
                  "gainmap/libavif/seine_sdr_gainmap_srgb.avif"]


def copied(folder):
    files = [(ROOT / name, "colours") for name in COLOURS]
    files += [(SHARED / "conformance" / name, "colours") for name in SHARED_COLOURS]
    files += [(file, "case") for file in sorted(SHARED.glob("cases/pictures/*/in/*")) + sorted(SHARED.glob("cases/served/*"))]
    if not SHARED.is_dir():
        print(f"skipped: the cases of {SHARED.name}/, which is not beside this repository")
    found = []
    for file, kind in files:
        if file.is_file():
            name = "-".join(part for part in (*file.parts[-3:-1], file.name) if part != "in")
            shutil.copyfile(file, folder / name)
            found.append(Source(name, kind="moving" if moves(file) else kind))
    return found


def moves(file):
    try:
        return getattr(Image.open(file), "n_frames", 1) > 1 and file.suffix in (".gif", ".png", ".webp")
    except OSError:
        return False
