"""The functions of the package."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from andon import _andon
from andon._types import FORMATS, RASTERS, Info, Limits, Plan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from typing_extensions import Buffer


OnDamage = Literal["refuse", "partial"]
"""What becomes of a file that is cut or damaged: an error, or what there is of the image."""


class ArrowArray(Protocol):
    """An array of any Arrow library: pyarrow, Polars, nanoarrow, arro3…"""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any: ...


class ArrowStream(Protocol):
    """An array in several chunks, such as a column of a pyarrow table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...


def render(
    recipe: str,
    data: Buffer,
    *,
    overlays: Mapping[str, Buffer] | None = None,
    limits: Limits | None = None,
    timeout: float | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
    on_damage: OnDamage = "refuse",
) -> bytes:
    """Render an image and return the encoded result.

    `data` is an image file: ``bytes``, or any other buffer of bytes, which is copied first. `overlays` are the files
    that the recipe names in ``over`` and ``overlay``. The work is given up after `timeout` seconds. Without ``as`` in
    the recipe, or with ``as:auto``, the format stays that of the source.

    Images of other `formats` than these are refused; `RASTERS` is all but drawings, documents and the files of cameras
    and editors, and `FORMATS` is all. With `isolate` the work is done in worker processes of this interpreter: an image
    that ends one costs an `AndonError` of kind ``crashed``, and what it took over knows nothing but that image.

    A file that is cut or damaged is an error of kind ``broken``. With ``on_damage="partial"`` what there is of it is
    shown, as browsers do, where its format allows that (JPEG, PNG, GIF).

    Raises `AndonError`.
    """
    return _andon.render(recipe, data, _given(overlays, limits, timeout, formats, isolate, on_damage))


def plan(
    recipe: str,
    data: Buffer,
    *,
    overlays: Mapping[str, Buffer] | None = None,
    limits: Limits | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
    on_damage: OnDamage = "refuse",
) -> Plan:
    """Plan what `render` would do, from the image's header: steps, size, estimated time and memory.

    Some recipes (``trim``, ``focus:smart``) look at the pixels too.

    Raises `AndonError`.
    """
    fields = _andon.plan(recipe, data, _given(overlays, limits, None, formats, isolate, on_damage))
    return Plan(**{**fields, "notes": tuple(fields["notes"])})


def probe(
    data: Buffer,
    *,
    limits: Limits | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
) -> Info:
    """Read the header of an image. No pixel is decoded.

    Raises `AndonError`.
    """
    return Info(**_andon.probe(data, _given(None, limits, None, formats, isolate, "refuse")))


@overload
def render_batch(
    recipe: str,
    images: ArrowArray | ArrowStream,
    *,
    threads: int = 1,
    overlays: Mapping[str, Buffer] | None = None,
    limits: Limits | None = None,
    timeout: float | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
    on_damage: OnDamage = "refuse",
) -> pa.StructArray: ...


@overload
def render_batch(
    recipe: Sequence[str],
    images: ArrowArray | ArrowStream,
    *,
    threads: int = 1,
    overlays: Mapping[str, Buffer] | None = None,
    limits: Limits | None = None,
    timeout: float | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
    on_damage: OnDamage = "refuse",
) -> list[pa.StructArray]: ...


def render_batch(
    recipe: str | Sequence[str],
    images: ArrowArray | ArrowStream,
    *,
    threads: int = 1,
    overlays: Mapping[str, Buffer] | None = None,
    limits: Limits | None = None,
    timeout: float | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
    on_damage: OnDamage = "refuse",
) -> pa.StructArray | list[pa.StructArray]:
    """Render every image of an Arrow array and return an array of structures, row by row in the order of `images`.

    A structure has ``bytes`` (large_binary) or ``error`` (string) and its ``kind`` (string, as `AndonError.kind`); the
    ``width`` and ``height`` of the result; ``partial`` (bool), whether the source was damaged, with
    ``on_damage="partial"``; ``source_format`` (string), ``source_width`` and ``source_height``, of the upright image,
    also of an image that failed, if its header can be read. Sizes are int32. An image that fails does not fail the
    others. A null row is null in all.

    With several recipes the result is a list of such arrays, one per recipe. Each image is decoded once for all recipes
    where its format allows that, and the bytes are the same as from separate calls.

    `images` is an array of ``binary``, ``large_binary`` or ``binary_view`` of any Arrow library, or a dictionary of these,
    in one chunk or several; it is not copied. `threads` is the number of threads to work on, 0 for one per core. Leave it
    at 1 where the caller runs one task per core, as Ray does. `timeout` is in seconds per image.

    Raises `AndonError`, before the first image, for a recipe that no image can be made by, and ``TypeError`` for an array
    of another type.
    """
    if threads < 0:
        raise ValueError(f"threads={threads}: 1 or more, or 0 for one per core")
    if not hasattr(images, "__arrow_c_array__") and not hasattr(images, "__arrow_c_stream__"):
        kind = type(images).__name__
        raise TypeError(f"images: an Arrow array, such as pyarrow.array(images, pyarrow.binary()), not a {kind}")
    recipes = [recipe] if isinstance(recipe, str) else list(recipe)
    given = _given(overlays, limits, timeout, formats, isolate, on_damage)
    made: list[pa.StructArray] = _andon.render_batch(recipes, images, threads, given)
    return made[0] if isinstance(recipe, str) else made


def to_numpy(
    recipe: str,
    data: Buffer,
    *,
    channels: int | None = None,
    overlays: Mapping[str, Buffer] | None = None,
    limits: Limits | None = None,
    timeout: float | None = None,
    formats: Collection[str] = RASTERS,
    isolate: bool = False,
    on_damage: OnDamage = "refuse",
) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]:
    """Render an image and return its pixels as an array of height × width × channels.

    Samples are ``uint8``, or ``uint16`` of 0 to 65535 for images of more than 8 bits (``depth:8`` in the recipe makes
    bytes of them). Colours are sRGB unless the recipe says otherwise. `channels` is 1 (gray), 3 (RGB) or 4 (RGBA);
    None: as many as the image has. With 1 and 3, transparent parts show the recipe's ``background``, or white. Of an
    animation the array shows the first frame, or the recipe's ``frame``. What the recipe says about encoding (``as``,
    ``q``…) has no effect. The array owns its memory.

    Raises `AndonError`.
    """
    return _andon.to_numpy(recipe, data, channels, _given(overlays, limits, timeout, formats, isolate, on_damage))


def _given(
    overlays: Mapping[str, Buffer] | None,
    limits: Limits | None,
    timeout: float | None,
    formats: Collection[str],
    isolate: bool,
    on_damage: OnDamage,
) -> _andon._Given:
    if isinstance(formats, str):
        raise TypeError(f"formats={formats!r}: a collection of names, such as ({formats!r},)")
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(f"formats: {unknown[0]!r} is none of {', '.join(FORMATS)}")
    if on_damage not in ("refuse", "partial"):
        raise ValueError(f"on_damage={on_damage!r}: 'refuse' or 'partial'")
    return (None if overlays is None else dict(overlays), limits, timeout, list(formats), isolate, on_damage == "partial")
