from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

from andon._types import Limits

# Overlay images by name, limits, and seconds per image.
_Given = tuple[dict[str, Buffer] | None, Limits | None, float | None]

def default_limits() -> dict[str, int]: ...
def plan(recipe: str, data: Buffer, given: _Given) -> dict[str, Any]: ...
def probe(data: Buffer, given: _Given) -> dict[str, Any]: ...
def render(recipe: str, data: Buffer, given: _Given) -> bytes: ...
def render_batch(recipes: Sequence[str], images: Any, threads: int, given: _Given) -> list[Any]: ...
def to_numpy(
    recipe: str, data: Buffer, channels: int | None, given: _Given
) -> npt.NDArray[np.uint8] | npt.NDArray[np.uint16]: ...
