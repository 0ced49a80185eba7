"""Recipes: ten that are requested of every file, and word bombs, which are as expensive as a URL of 1 KB and `limits.cpu` permit."""

import itertools
import random
import urllib.parse

# Maximum length of a URL.
LONGEST = 1024

RECIPES = [
    "fit:400x400,as:webp",
    "cover:300x300,focus:smart,as:jpeg",
    "trim:10,fit:1000x1000,as:png",
    "fit:1200x1200,as:avif",
    "exact:1x100,as:png",
    "exact:3000x3000,as:jpeg,q:90",
    "same,as:webp",
    "fit:800x800,blur:0x20,rotate:12.5,as:png",
    "fit:600x600,sharpen-l:10,text:Otter:40:ffffff,as:gif",
    "fit:500x500,score:80,as:webp",
]

# Every effect, with the arguments that are expected to be the most expensive.
EFFECTS = [
    "text:M:1", "text:%F0%9F%A6%A6W%C3%A9:9000:ff0000", "text:WWWWWWWWWWWWWWWW:99:00ff0080", "text:a%0Ab%0Ac%0Ad%0Ae%0Af:30",
    "text:" + "%0A".join(["@&g"] * 99) + ":1000",
    "sharpen-l:1000", "sharpen-l:40", "sharpen-l:5", "sharpen:0x1000", "sharpen:0x20", "sharpen:0x5", "blur:0x1000", "blur:0x100",
    "blur:0x9", "blur:0x3", "unsharp:0x9", "unsharp:0x200", "blur-area:0:0:9999x9999:9", "blur-area:1:1:9999x9999:900",
    "over:lamp.png", "over:lamp.png:repeat:repeat", "overlay:colour%3Aff0000:0:0:50:9000:9000",
    "overlay:lamp.png:0:0:50:3000:3000", "overlay:lamp.png:0:0:50:300:300:tile", "overlay:lamp.png:0:0:50:3000:3000:soft-light",
    "overlay:lamp.png:repeat:repeat:50:2:2", "overlay:lamp.png:0:0:50:1:32768", "overlay:lamp.png:0:0:50:999:999:mask",
    "overlay:lamp.png:spread:spread:50:2:2:multiply", "overlay:lamp.png:0:0:50:9:9:normal:exact:exact%3A4000x4000%2Cblur%3A0x9",
    "gradient:80:ff0000:33", "round:50:60:00ff00", "round:9999", "mask:ellipse", "mask:star:ff000080", "mask:heart:ff0000",
    "border:999x999:ff000080", "border:9x9:ff0000", "pixelate:2", "pixelate:50",
    "pad:5:5:5:5:00000000,backdrop:blur:0:0:999x999", "pad:5:5:5:5:00000000,backdrop:median:0:0:9999x9999:9",
    "gray", "sepia", "hue:40", "modulate:0.9:1.2:30", "saturation:1.5", "gamma:1.4", "contrast:1.2", "brightness:10",
    "duotone:ff0000:0000ff", "tint:b06010", "colorize:50:ff0000", "invert", "bitonal", "rgb:10:20:30",
]

# Steps that are not effects.
STEPS = [
    "rotate:7:ff0000", "rotate:45:00000000", "turn:90", "flip:h", "pad:10:10:10:10:ff0000", "pad:1:1:1:1:ff000080",
    "flatten:ff0000", "exact:110%x110%", "exact:50%x50%,exact:200%x200%", "exact:99%x101%", "crop:1:1:99%x99%",
    "rotate:45,exact:2000x2000", "gray,exact:99%x99%", "linear", "profile:p3", "exact:16000x10,exact:10x16000",
]

OUTPUTS = [
    *(f"as:jpeg{rest}" for rest in ("", ",q:100,progressive", ",score:90", ",max:9000")),
    *(f"as:png,effort:{effort}" for effort in (3, 9)),
    *(f"as:webp,effort:{effort}" for effort in (4, 9)),
    *(f"as:webp,lossless,effort:{effort}" for effort in (4, 9)),
    "as:webp,score:90", "as:webp,max:9000", "as:webp,effort:9,score:90",
    *(f"as:avif,effort:{effort}" for effort in (0, 4, 6, 9)),
    "as:avif", "as:avif,lossless", "as:avif,effort:9,q:100", "as:avif,score:90", "as:avif,depth:10,effort:7",
    *(f"as:jxl,effort:{effort}" for effort in (3, 7, 9)),
    *(f"as:jxl,lossless,effort:{effort}" for effort in (3, 9)),
    "as:jxl,score:90", "as:png,with:colours:256", "as:png,with:colours:9,effort:9", "as:webp,with:near-lossless:60,effort:9",
    "as:palette", "as:png,depth:16", "as:png,progressive,effort:7", "as:gif", "as:tiff", "as:bmp", "as:ico", "as:blurhash", "as:thumbhash",
]

SIDES = [1, 40, 300, 1000, 2400, 5000, 7000]


def bombs():
    """Yields (steps, output, side): one word that is repeated."""
    for word in EFFECTS + STEPS:
        for side in SIDES[::2]:
            yield word, "as:png,effort:0", side
    for output, side in itertools.product(OUTPUTS, [0, *SIDES]):
        yield "", output, side


def mixtures(seed, count):
    """Yields several words at random."""
    draw = random.Random(seed)
    for _ in range(count):
        words = ",".join(draw.choices(EFFECTS + STEPS, k=draw.randint(1, 5)))
        yield words, draw.choice(OUTPUTS), draw.choice(SIDES)


def target(words, times, output, side, source):
    """Returns the URL path of a source that is scaled to a size, then processed by `words` repeated `times` times, then encoded."""
    size = f"exact:{side}x{side}" if side else ""
    recipe = ",".join(part for part in [size, *[words] * times, output] if part)
    return f"/r/{quote(recipe)}/{quote(source)}"


def most_times(words, output, side, source):
    """Returns how many times the words fit into a URL."""
    if not words:
        return 0
    left = LONGEST - len(target("", 0, output, side, source))
    return max(1, left // (len(quote(words)) + 1))


def quote(text):
    return urllib.parse.quote(text, safe="/:,+=@")
