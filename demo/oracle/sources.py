"""Images that are generated for the test: every format, with every orientation that it can declare."""
import struct, subprocess
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFilter, PngImagePlugin

# Odd sides, so that the chroma samples at two edges extend beyond the image.
SIZE = (101, 67)
MARK = 20
# The operation that makes stored pixels upright, by EXIF orientation. There is none for 1.
TURNS = dict(enumerate([Image.FLIP_LEFT_RIGHT, Image.ROTATE_180, Image.FLIP_TOP_BOTTOM, Image.TRANSPOSE, Image.ROTATE_270,
                        Image.TRANSVERSE, Image.ROTATE_90], 2))
UNDONE = {Image.ROTATE_270: Image.ROTATE_90, Image.ROTATE_90: Image.ROTATE_270}
# The same operations as boxes of AVIF: quarter turns anticlockwise, then a mirror.
BOXES = {2: ["--imir", "1"], 3: ["--irot", "2"], 4: ["--imir", "0"], 5: ["--irot", "1", "--imir", "0"],
         6: ["--irot", "3"], 7: ["--irot", "3", "--imir", "0"], 8: ["--irot", "1"]}
# The orientation tag in a big-endian EXIF block, up to its value.
ORIENTATION = bytes.fromhex("0112 0003 00000001 00")
# File name endings, from a JPEG in 4:4:4 to a lossless TIFF. EXIF in an AVIF is tested with one orientation only.
TURNED = ["jpg", "420.jpg", "png", "webp", "avif", "exif.avif", "jxl", "tif"]
# Delays in milliseconds. Browsers play 0 and 10 as 100.
DELAYS = [0, 10, 50, 100, 300]
SRGB_PRIMARIES = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="101" height="67"><defs><linearGradient id="g"><stop stop-color="#28c"/>
<stop offset="1" stop-color="#fa6"/></linearGradient></defs><rect width="101" height="67" fill="url(#g)"/>
<path d="M0 0h20v20H0z" fill="#dc1e1e"/><path d="M81 0h20v20H81z" fill="#1eb428"/><path d="M0 47h20v20H0z" fill="#283cdc"/></svg>"""


@dataclass
class Source:
    name: str
    # The EXIF orientation, the upright image, and the pixels stored in the file.
    turn: int = 0
    upright: Image.Image | None = None
    stored: Image.Image | None = None
    kind: str = "still"


def chart():
    """Returns an image with smooth areas, and marks in three corners."""
    width, height = SIZE
    image = Image.new("RGB", SIZE)
    image.putdata([(40 + 170 * x // width, 50 + 150 * y // height, 200 - 120 * (x + y) // (width + height))
                     for y in range(height) for x in range(width)])
    draw = ImageDraw.Draw(image)
    for at, colour in [((0, 0), (220, 30, 30)), ((width - MARK, 0), (30, 180, 40)), ((0, height - MARK), (40, 60, 220))]:
        draw.rectangle((*at, at[0] + MARK - 1, at[1] + MARK - 1), colour)
    return softened(image)


def softened(image):
    """Blurs the edges to those of a photo. Sharper edges would show differences between encoders and scalers instead of faults."""
    return image.filter(ImageFilter.GaussianBlur(1.2))


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


def avif(*words):
    run("avifenc", "--min", 0, "--max", 4, "-s", 8, "-y", 444, *words)


def exif(turn):
    block = Image.Exif()
    block[0x0112] = turn
    return block.tobytes()


def turned(folder, image, turn):
    """Writes the image in every format that can declare an orientation. `turn` is the one that makes it upright."""
    step = TURNS.get(turn)
    stored = image.transpose(UNDONE.get(step, step)) if step is not None else image
    plain, block = folder / "plain.png", folder / "exif.bin"
    stored.save(plain)
    block.write_bytes(exif(1)[6:])
    at = {ending: folder / f"{turn}.{ending}" for ending in TURNED}
    stored.save(at["jpg"], quality=95, subsampling=0, exif=exif(turn))
    stored.save(at["420.jpg"], quality=95, subsampling=2, exif=exif(turn))
    stored.save(at["png"], exif=exif(turn))
    stored.save(at["webp"], lossless=True, exif=exif(turn))
    stored.save(at["tif"], compression="tiff_lzw", tiffinfo={0x0112: turn})
    avif(*BOXES.get(turn, []), plain, at["avif"])
    run("cjxl", at["jpg"], at["jxl"])
    if turn == 6:
        avif("--exif", block, plain, at["exif.avif"])
        # avifenc converts an EXIF orientation to boxes, so the orientation is changed in the finished file.
        file = at["exif.avif"].read_bytes()
        at["exif.avif"].write_bytes(file.replace(ORIENTATION + b"\1", ORIENTATION + bytes([turn])))
    else:
        del at["exif.avif"]
    plain.unlink()
    block.unlink()
    return [Source(path.name, turn, image, stored) for path in at.values()]


def chunk(name, *numbers):
    info = PngImagePlugin.PngInfo()
    for each, values in [(name, numbers)] if isinstance(name, bytes) else name:
        info.add(each, struct.pack(f">{len(values)}I", *values))
    return info


def kinds(folder, image):
    """Yields files with every kind of pixels that the formats support."""
    def saved(name, image=image, **options):
        image.save(folder / name, **options)
        return Source(name)

    gray = image.convert("L")
    shape = Image.new("L", SIZE, 0)
    ImageDraw.Draw(shape).ellipse((10, 6, 90, 60), fill=255)
    cut, soft = image.copy(), image.copy()
    cut.putalpha(shape)
    soft.putalpha(shape.filter(ImageFilter.GaussianBlur(6)))
    sixteen = gray.convert("I").point(lambda level: level * 257).convert("I;16")
    palette = image.quantize(200)
    yield saved("gray.jpg", gray, quality=95)
    yield saved("progressive.jpg", quality=90, progressive=True)
    yield saved("cmyk.jpg", image.convert("CMYK"), quality=95)
    yield saved("gray.png", gray)
    sixteen.save(folder / "16.png")
    yield Source("16.png")
    yield saved("palette.png", palette)
    yield saved("bits.png", gray.convert("1"))
    for name, png in {"cut": cut, "soft": soft}.items():
        yield saved(f"{name}.png", png)
        yield saved(f"{name}.webp", png, lossless=True)
        yield saved(f"{name}.tif", png)
        yield saved(f"{name}.ico", png, sizes=[SIZE])
        avif(folder / f"{name}.png", folder / f"{name}.avif")
        yield Source(f"{name}.avif")
        run("cjxl", "-d", 0, folder / f"{name}.png", folder / f"{name}.jxl")
        yield Source(f"{name}.jxl")
    for gamma in (45455, 100000):
        yield saved(f"gama-{gamma}.png", pnginfo=chunk(b"gAMA", gamma))
        yield saved(f"gama-{gamma}-chrm.png", pnginfo=chunk([(b"gAMA", [gamma]), (b"cHRM", SRGB_PRIMARIES)]))
    yield saved("lossy.webp", quality=90)
    yield saved("one.gif", palette)
    yield saved("24.bmp")
    yield saved("8.bmp", palette)
    # For other widths, Pillow writes a mask that is too short.
    yield saved("bmp.ico", image.crop((0, 0, 96, 64)), sizes=[(96, 64)], bitmap_format="bmp")
    yield saved("gray.tif", gray)
    yield saved("palette.tif", palette)
    (folder / "drawing.svg").write_text(SVG)
    yield Source("drawing.svg")


def animations(folder, image):
    """Writes animations with five delays. In AVIF and JPEG XL, the delays are those that their tools write."""
    frames = []
    for number in range(len(DELAYS)):
        frame = image.copy()
        ImageDraw.Draw(frame).rectangle((number * 18 + 4, 28, number * 18 + 16, 44), fill=(250, 250, 40 * number))
        frames.append(softened(frame))
    options = {"save_all": True, "append_images": frames[1:], "duration": DELAYS, "loop": 0}
    frames[0].save(folder / "moving.gif", **options)
    frames[0].save(folder / "moving.png", **options)
    frames[0].save(folder / "moving.webp", lossless=True, **options)
    run("cjxl", "-d", 0, folder / "moving.png", folder / "moving.jxl")
    stills = []
    for number, frame in enumerate(frames):
        stills.append(folder / f"still{number}.png")
        frame.save(stills[-1])
    avif("--fps", 20, *stills, folder / "moving.avif")
    return [Source(f"moving.{ending}", kind="moving") for ending in ("gif", "png", "webp", "avif", "jxl")]


def all_sources(folder):
    image = chart()
    sources = []
    for turn in range(1, 9):
        sources += turned(folder, image, turn)
    return sources + list(kinds(folder, image)) + animations(folder, image)
