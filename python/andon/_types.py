"""What the functions take and give beside bytes and arrays."""

from dataclasses import dataclass

from andon import _andon

_DEFAULTS = _andon.default_limits()

_NAMES = _andon.format_names()

FORMATS: tuple[str, ...] = tuple(_NAMES[0])
"""The names of all formats, for the parameter ``formats``."""

RASTERS: tuple[str, ...] = tuple(_NAMES[1])
"""Those that are read by default: all but ``svg``, ``pdf``, ``raw`` and ``psd``."""


class AndonError(Exception):
    """An image that cannot be made. ``str(error)`` is one sentence with the offending value."""

    kind: str
    """One of ``recipe``, ``unfit``, ``unknown_format``, ``broken``, ``unsupported``, ``limit``, ``suspect``, ``crashed``,
    ``interrupted`` and ``internal``. ``recipe``: it cannot be carried out on any image; ``unfit``: not on this image;
    ``interrupted``: the timeout; ``crashed``: with ``isolate``, the worker process ended; ``internal``: a bug in
    Andon; all others are about the image."""

    status: int
    """The HTTP status with which a server answers the same error."""

    def __init__(self, message: str, kind: str = "internal", status: int = 500) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one image may cost. Checked before anything of that size is allocated; beyond, `AndonError` of kind
    ``limit``. The defaults are those of the server."""

    source_bytes: int = _DEFAULTS["source_bytes"]
    """Bytes of a source file."""
    pixels: int = _DEFAULTS["pixels"]
    """Pixels of a source image."""
    frames: int = _DEFAULTS["frames"]
    """Frames of an animation."""
    animation_pixels: int = _DEFAULTS["animation_pixels"]
    """Pixels of all frames of an animation together."""
    side: int = _DEFAULTS["side"]
    """Longest side of a source image, in pixels."""
    result_pixels: int = _DEFAULTS["result_pixels"]
    """Pixels of a result."""
    result_side: int = _DEFAULTS["result_side"]
    """Longest side of a result, in pixels."""
    memory: int = _DEFAULTS["memory"]
    """Bytes that may be allocated at a time for one image, source and result included."""
    scans: int = _DEFAULTS["scans"]
    """Scans of a progressive JPEG."""
    metadata_bytes: int = _DEFAULTS["metadata_bytes"]
    """Bytes of one metadata block (ICC, EXIF) after inflation."""


@dataclass(frozen=True, kw_only=True)
class Info:
    """What the header of an image says."""

    format: str
    """The format's name in recipes, such as ``jpeg``."""
    media_type: str
    """Such as ``image/jpeg``."""
    width: int
    """Width as stored, before `orientation`."""
    height: int
    """Height as stored, before `orientation`."""
    orientation: int
    """EXIF orientation, 1 to 8; 1 is upright."""
    alpha: bool
    """May parts of it be transparent?"""
    frames: int
    """Number of frames; 1 for a still image."""
    colour: str
    """Colour model as stored: ``gray``, ``ycbcr``, ``rgb`` or ``cmyk``."""
    depth: int
    """Bits of a sample as decoded: 8, 10, 12 or 16."""
    profile: bool
    """Does it have an ICC profile?"""
    metadata: bool
    """Does it have EXIF, XMP, IPTC or comments?"""
    quality: int | None
    """The quality it was written with, 1 to 100, if the file tells."""
    lossless: bool
    """Was it encoded without loss?"""
    progressive: bool
    """Is it a progressive JPEG, or an interlaced PNG or GIF?"""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright image."""
        if self.orientation >= 5:
            return self.height, self.width
        return self.width, self.height


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a recipe is carried out on an image. ``str(plan)`` shows the steps."""

    text: str
    """Such as ``decode jpeg 1/4 ycbcr420 | resize 250x188 lanczos3 | encode jpeg q80``."""
    recipe: str
    """The recipe in whole pixels of this image."""
    format: str
    """Format of the result."""
    media_type: str
    """Media type of the result."""
    width: int
    """Width of the result in pixels."""
    height: int
    """Height of the result in pixels."""
    is_copy: bool
    """Is the result the source, byte for byte?"""
    seconds: float
    """Estimated processor time on one core of the machine on which the model was calibrated."""
    peak_bytes: int
    """Largest number of bytes allocated at a time, source and result included."""
    notes: tuple[str, ...]
    """What is lost although the recipe does not ask for that, one sentence each."""

    def __str__(self) -> str:
        return self.text
