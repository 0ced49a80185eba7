#!/usr/bin/python3
"""Shows pictures beside what Andon makes of them in Chromium, and compares the pixels of a screenshot.

./dev browser [-o SCREENSHOT.png]. Needs Debian's chromium and python3-pil; says so and does nothing where they are
missing. Every result must have its source's colours on the screen: wide gamut, inks, 16 bits, gain maps, turned.
"""
import argparse, shutil, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is shown, and how: lossy formats finely, so that the screen tells colours and not artefacts.
SAMPLES = ["hdr/colour.jpg", "hdr/gray.jpg", "hdr/turned.jpg", "jpeg/orientation-6.jpg", "jpeg/icc-adobe-rgb.jpg",
           "png/icc-adobe-rgb.png", "png/16-bit.png", "jpeg/cmyk.jpg", "jpeg/ycck.jpg"]
CONFORMANCE = ["colour/sharp/Channel_digital_image_CMYK_color.jpg", "gainmap/libavif/seine_sdr_gainmap_srgb.jpg",
               "gainmap/libavif/seine_sdr_gainmap_srgb.avif"]
RECIPES = {"jpeg": "q:97,chroma:444,as:jpeg", "png": "as:png", "webp": "lossless,as:webp",
           "avif": "q:97,chroma:444,as:avif", "sRGB": "profile:srgb,as:png"}
# By how many of 255 levels a channel may be off: in the mean with its sign, which tells colours, and without.
SHIFT, DISTANCE = 1.5, 3.0
# Of tables of inks Chromium makes colours of its own, 4 levels off Little CMS's, which Andon's are 1 off.
INKS_DISTANCE = 5.0
# Inks without a profile are what each program makes of them: only shown.
UNPROFILED = ["jpeg/cmyk.jpg", "jpeg/ycck.jpg"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb",
         "--hide-scrollbars", "--allow-file-access-from-files"]
GAP = 8


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("andon")
    parser.add_argument("-o", "--output", help="keep the screenshot here")
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from PIL import Image, ImageChops, ImageStat
    except ImportError:
        sys.exit(print("skipped: python3 has no Pillow (apt-get install python3-pil)"))
    if not chromium:
        sys.exit(print("skipped: there is no chromium (apt-get install chromium)"))
    sources = [(name, ROOT / "samples" / name) for name in SAMPLES]
    shared = ROOT.parent / "shared/conformance"
    sources += [(name, shared / name) for name in CONFORMANCE if (shared / name).exists()]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        cells, top, across = [], GAP, 0
        for number, (name, path) in enumerate(sources):
            source = folder / f"{number}{path.suffix}"
            shutil.copyfile(path, source)
            made = {}
            for column, recipe in RECIPES.items():
                out = folder / column
                out.mkdir(exist_ok=True)
                convert = [args.andon, "convert", recipe, str(source), "-o", str(out)]
                said = subprocess.run(convert, capture_output=True, text=True)
                if said.returncode:
                    sys.exit(f"{name}, {recipe}: {said.stderr}")
                made[column] = next(out.glob(f"{number}.*"))
            width, height = Image.open(made["png"]).size
            for column, (kind, file) in enumerate([("source", source), *made.items()]):
                cells.append((name, kind, file, GAP + column * (width + GAP), top, width, height))
            top += height + GAP
            across = max(across, GAP + len(cells[-len(RECIPES) - 1:]) * (width + GAP))
        page = "".join(f'<img src="{file}" style="position:absolute;left:{x}px;top:{y}px;width:{w}px;height:{h}px">'
                       for _, _, file, x, y, w, h in cells)
        (folder / "page.html").write_text(f"<!DOCTYPE html><body style='margin:0;background:#777'>{page}")
        shot = folder / "screen.png"
        command = [chromium, *FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={across},{top}",
                   f"--screenshot={shot}", f"file://{folder}/page.html"]
        subprocess.run(command, capture_output=True, timeout=120, check=True)
        screen = Image.open(shot).convert("RGB")
        if args.output:
            screen.save(args.output)
        failed = 0
        for name, kind, _, x, y, w, h in cells:
            shown = screen.crop((x, y, x + w, y + h))
            if kind == "source":
                source = shown
                print(name)
                if len(source.getcolors(w * h) or "many") < 3:
                    failed += 1
                    print("  the source is not shown")
                continue
            off = ImageStat.Stat(ImageChops.difference(shown, source)).mean
            means = zip(ImageStat.Stat(shown).mean, ImageStat.Stat(source).mean)
            shift = max((one - other for one, other in means), key=abs)
            wrong = abs(shift) > SHIFT or max(off) > (INKS_DISTANCE if "CMYK" in name else DISTANCE)
            judged = name not in UNPROFILED
            failed += wrong and judged
            verdict = "" if not wrong else "  WRONG" if judged else "  (no profile: not judged)"
            print(f"  {kind:5} shifted by {shift:+5.2f}, {max(off):5.2f} off{verdict}")
        sys.exit(f"{failed} are not shown in their source's colours" if failed else 0)


main()
