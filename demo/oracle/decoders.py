"""Decodes files that a browser cannot draw with other programs."""
import io, subprocess, tempfile
from pathlib import Path

from PIL import Image, ImageCms, ImageSequence

from judge import Frame


def frames(data, form):
    """Returns the name of the program, and the frames that it decodes."""
    return ("djxl", by_djxl(data)) if form == "jxl" else ("Pillow", opened(data))


def by_djxl(data):
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in.jxl"), Path(folder, "out.apng")
        source.write_bytes(data)
        subprocess.run(["djxl", source, out], check=True, capture_output=True)
        return opened(out.read_bytes())


def opened(data):
    return [Frame(in_srgb(frame), frame.info.get("duration", 0)) for frame in ImageSequence.Iterator(Image.open(io.BytesIO(data)))]


def in_srgb(frame):
    # Both programs apply the orientation themselves: Pillow when it loads a TIFF.
    frame.load()
    profile = frame.info.get("icc_profile")
    if frame.mode.startswith("I"):
        frame = frame.convert("I").point(lambda level: level * (1 / 257)).convert("L")
    shown = frame.convert("RGBA")
    if not profile or frame.mode not in ("RGB", "RGBA"):
        return shown
    alpha = shown.getchannel("A")
    shown = ImageCms.profileToProfile(shown.convert("RGB"), io.BytesIO(profile), ImageCms.createProfile("sRGB"))
    shown.putalpha(alpha)
    return shown
