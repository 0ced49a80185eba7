"""Judges whether two images look the same. All tolerances are defined here."""
from dataclasses import dataclass

from PIL import Image, ImageChops, ImageStat

# Tolerances: levels of 255 in the mean of all cells and in the worst one, and the width of a cell in pixels. Smaller differences
# may come from an encoder at its default quality, or from another scaler at edges.
LOSSLESS, SCALED, LOSSY = (1.0, 4.0, 1), (1.5, 8.0, 4), (3.0, 24.0, 8)
LOSSY_FORMATS = ["jpeg", "webp", "avif", "jxl", "gif"]
# Tolerance for the duration of an animation, as a share of it, or half a unit of GIF in ms.
TIME, UNIT = 0.02, 5
# Browsers show frames with a delay up to SHORT for DELAY ms.
SHORT, DELAY = 10, 100
# Shorter frames are not compared, because a GIF may have to merge them with others.
LOOKED_AT = 40


@dataclass
class Frame:
    image: Image.Image
    ms: float = 0

    @property
    def delay(self):
        return self.ms if self.ms > SHORT else DELAY


@dataclass
class Verdict:
    mean: float = 0
    worst: float = 0
    why: str = ""

    def __or__(self, other):
        return Verdict(max(self.mean, other.mean), max(self.worst, other.worst), self.why or other.why)


def over(image, ground):
    return Image.alpha_composite(Image.new("RGBA", image.size, ground), image.convert("RGBA")).convert("RGB")


def differ(source, result, form):
    off = min(abs(source.width * result.height / source.height - result.width),
              abs(source.height * result.width / source.width - result.height))
    if off > 1:
        return Verdict(why=f"{result.width}×{result.height} px of {source.width}×{source.height}")
    tolerance = LOSSY if form in LOSSY_FORMATS else LOSSLESS if result.size == source.size else SCALED
    mean, worst, cell = tolerance
    grid = tuple(max(1, side // cell) for side in result.size)
    verdict = Verdict()
    # A JPEG has no opacity: transparent pixels become white.
    for ground in ["white"] if form == "jpeg" else ["white", "black"]:
        # The source is scaled with a good filter.
        one, other = over(source, ground).resize(result.size, Image.BICUBIC), over(result, ground)
        off = ImageChops.difference(one.resize(grid, Image.BOX), other.resize(grid, Image.BOX))
        verdict |= Verdict(max(ImageStat.Stat(off).mean), max(high for _, high in off.getextrema()))
    if verdict.mean > mean or verdict.worst > worst:
        verdict.why = f"{verdict.mean:.1f} off in the mean, {verdict.worst:.0f} in the worst cell"
    return verdict


def timeline(frames):
    """Returns the time at which each frame ends."""
    ends, end = [], 0
    for frame in frames:
        end += frame.delay
        ends.append(end)
    return ends


def compare(source, result, form):
    """Compares the frames of the source, as they should be, with those of the result in this format."""
    if len(source) == 1 or len(result) == 1:
        verdict = differ(source[0].image, result[0].image, form)
        return verdict if len(source) == len(result) else verdict | Verdict(why=f"{len(result)} frames of {len(source)}")
    verdict = Verdict()
    ends, others = timeline(source), timeline(result)
    if abs(others[-1] - ends[-1]) > max(TIME * ends[-1], UNIT):
        verdict.why = f"{others[-1]:.0f} ms of {ends[-1]:.0f}"
    for frame, end in zip(source, ends):
        if frame.delay >= LOOKED_AT:
            at = (end - frame.delay / 2) * others[-1] / ends[-1]
            shown = next(other for other, until in zip(result, others) if at <= until)
            verdict |= differ(frame.image, shown.image, form)
    return verdict
