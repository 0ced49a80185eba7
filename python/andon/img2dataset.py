"""A resizer for img2dataset: the same arguments and results as its own, without OpenCV.

>>> import img2dataset.main
>>> from andon.img2dataset import Resizer
>>> img2dataset.main.Resizer = Resizer
>>> img2dataset.download(url_list="urls.txt", image_size=256, resize_mode="center_crop")

Images are decoded at a reduced scale where their format allows that. Differences from img2dataset's own resizer: images
are turned upright by their EXIF orientation (sizes are those of the upright image), colours become sRGB by the image's
profile, the interpolation arguments are accepted and ignored (Lanczos with antialiasing in both directions), and there
is no blurring.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, BinaryIO

from andon._api import probe, render
from andon._types import AndonError, Info, Limits

Result = tuple[bytes | None, int | None, int | None, int | None, int | None, str | None]
"""Encoded image, width, height, original width, original height, error."""


class ResizeMode(Enum):
    """What is made of an image; ``size`` is `Resizer.image_size`."""

    no = "no"
    """Its size is kept."""
    keep_ratio = "keep_ratio"
    """The shorter side becomes ``size``."""
    center_crop = "center_crop"
    """The same, and the middle of the longer side is kept: a square."""
    border = "border"
    """The longer side becomes ``size``, on a white square."""
    keep_ratio_largest = "keep_ratio_largest"
    """The longer side becomes ``size``."""
    fixed = "fixed"
    """Both sides become ``size``; the aspect ratio changes."""


class Resizer:
    """A callable that resizes one image at a time."""

    def __init__(
        self,
        image_size: int,
        resize_mode: str | Enum,
        resize_only_if_bigger: bool,
        upscale_interpolation: str = "lanczos",
        downscale_interpolation: str = "area",
        encode_quality: int = 95,
        encode_format: str = "jpg",
        skip_reencode: bool = False,
        disable_all_reencoding: bool = False,
        min_image_size: int = 0,
        max_image_area: float = float("inf"),
        max_aspect_ratio: float = float("inf"),
        blurrer: Any = None,
        *,
        limits: Limits | None = None,
    ) -> None:
        """Take the arguments of img2dataset's resizer, and `limits`."""
        name = resize_mode.name if isinstance(resize_mode, Enum) else resize_mode
        if name not in ResizeMode.__members__:
            raise ValueError(f"resize_mode={name!r}: one of {', '.join(ResizeMode.__members__)}")
        if blurrer is not None:
            raise ValueError("blurrer: this resizer does not blur; leave bbox_col out")
        self.image_size = image_size
        self.resize_mode = ResizeMode[name]
        self.resize_only_if_bigger = resize_only_if_bigger
        self.skip_reencode = skip_reencode
        self.disable_all_reencoding = disable_all_reencoding
        self.min_image_size = min_image_size
        self.max_image_area = max_image_area
        self.max_aspect_ratio = max_aspect_ratio
        self.limits = limits
        self._format, self._encoding = _encoding(encode_format, encode_quality)

    def __call__(self, img_stream: BinaryIO, blurring_bbox_list: Any = None) -> Result:
        """Resize the image in a stream. Errors are returned, not raised."""
        if self.disable_all_reencoding:
            return img_stream.read(), None, None, None, None, None
        if blurring_bbox_list is not None:
            return _failed("blurrer not defined")
        img_stream.seek(0)
        data = img_stream.read()
        try:
            info = probe(data, limits=self.limits)
            width, height = info.size
            refused = self._refusal(width, height)
            if refused is not None:
                return _failed(refused)
            steps = self._steps(width, height)
            if steps or not self._keeps(info):
                first = ["frame:1"] if info.frames > 1 else []
                recipe = ",".join(["orient", *steps, *first, self._encoding])
                data = render(recipe, data, limits=self.limits)
            made = probe(data, limits=self.limits)
        except AndonError as error:
            return _failed(str(error))
        return data, *made.size, width, height, None

    def _refusal(self, width: int, height: int) -> str | None:
        if min(width, height) < self.min_image_size:
            return "image too small"
        if width * height > self.max_image_area:
            return "image area too large"
        if max(width, height) / min(width, height) > self.max_aspect_ratio:
            return "aspect ratio too large"
        return None

    def _keeps(self, info: Info) -> bool:
        """Is the file itself the result, if it is not resized?"""
        return self.skip_reencode and info.format == self._format and not info.alpha

    def _steps(self, width: int, height: int) -> list[str]:
        size = self.image_size
        by_shorter = self.resize_mode in (ResizeMode.keep_ratio, ResizeMode.center_crop)
        side = min(width, height) if by_shorter else max(width, height)
        if self.resize_mode is ResizeMode.no or (self.resize_only_if_bigger and side <= size):
            return []
        match self.resize_mode:
            case ResizeMode.keep_ratio:
                return [f"fit:{size}x:enlarge" if width <= height else f"fit:x{size}:enlarge"]
            case ResizeMode.center_crop:
                return [f"cover:{size}x{size}:centre:enlarge"]
            case ResizeMode.border:
                return [f"fit:{size}x{size}:enlarge", f"canvas:{size}x{size}:ffffff"]
            case ResizeMode.keep_ratio_largest:
                return [f"fit:{size}x{size}:enlarge"]
            case _:
                return [f"exact:{size}x{size}"]


def _encoding(extension: str, quality: int) -> tuple[str, str]:
    """The format's name, and what a recipe says of the encoding; `quality` counts as in OpenCV."""
    rest = "flatten:ffffff,metadata:none,profile:srgb,gainmap:drop"
    match extension:
        case "jpg" if 0 <= quality <= 100:
            return "jpeg", f"{rest},as:jpeg,q:{max(quality, 1)}"
        case "webp" if quality > 100:
            return "webp", f"{rest},as:webp,lossless"
        case "webp" if quality >= 0:
            return "webp", f"{rest},as:webp,q:{max(quality, 1)}"
        case "png" if 0 <= quality <= 9:
            return "png", f"{rest},as:png,effort:{quality}"
        case "jpg" | "webp" | "png":
            raise ValueError(
                f"encode_quality={quality}: 0 to 100 for jpg and webp (webp above 100: lossless), 0 to 9 for png"
            )
    raise ValueError(f"encode_format={extension!r}: one of jpg, png, webp")


def _failed(error: str) -> Result:
    return None, None, None, None, None, error
