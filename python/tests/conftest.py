"""Sample images, read once."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def photographs() -> list[bytes]:
    """What a site serves every day: 1 to 2 megapixels."""
    return [path.read_bytes() for path in sorted((SAMPLES / "photos").glob("*.jpg"))]


@pytest.fixture(scope="session")
def otter() -> bytes:
    return sample("photos/otter.jpg")
