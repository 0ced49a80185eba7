"""Pixels as arrays, compared with Pillow's reading of the same result as a file."""

import gc
import io

import numpy as np
import pytest
from conftest import sample
from PIL import Image

import andon


def as_png(recipe, data, mode=None):
    """What a lossless file of the same recipe holds."""
    file = Image.open(io.BytesIO(andon.render(f"{recipe},profile:srgb,frame:1,as:png", data)))
    pixels = np.asarray(file if mode is None else file.convert(mode))
    return pixels if pixels.ndim == 3 else pixels[:, :, np.newaxis]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("photos/otter.jpg", (3,)),
        ("jpeg/orientation-6.jpg", (3,)),
        ("jpeg/gray.jpg", (1,)),
        ("jpeg/cmyk.jpg", (3,)),
        ("jpeg/icc-adobe-rgb.jpg", (3,)),
        ("icons/lamp.png", (4,)),
        ("webp/animated.webp", None),
        ("gif/still.gif", None),
    ],
)
def test_an_array_holds_the_pixels_of_a_lossless_file(name, shape):
    data = sample(name)
    for recipe in ["fit:120x120", "orient"]:
        made = andon.to_numpy(recipe, data)
        mode = {1: "L", 3: "RGB", 4: "RGBA"}[made.shape[2]]
        np.testing.assert_array_equal(made, as_png(recipe, data, mode))
        assert made.dtype == np.uint8
        if shape is not None:
            assert made.shape[2:] == shape


def test_an_array_is_upright_and_has_rows_first():
    made = andon.to_numpy("orient", sample("jpeg/orientation-6.jpg"))
    assert made.shape == (160, 240, 3)


def test_channels_are_as_asked_for(otter):
    gray, lamp = sample("jpeg/gray.jpg"), sample("icons/lamp.png")
    one = andon.to_numpy("same", gray)
    np.testing.assert_array_equal(andon.to_numpy("same", gray, channels=3), np.repeat(one, 3, 2))
    four = andon.to_numpy("fit:64x64", otter, channels=4)
    assert four.shape[2] == 4 and (four[:, :, 3] == 255).all()
    np.testing.assert_array_equal(four[:, :, :3], andon.to_numpy("fit:64x64", otter))
    assert andon.to_numpy("fit:64x64", otter, channels=1).shape[2] == 1
    # White, or the recipe's background, shows through.
    clear = andon.to_numpy("same", lamp)[:, :, 3] == 0
    assert clear.any()
    assert (andon.to_numpy("same", lamp, channels=3)[clear] == 255).all()
    red = andon.to_numpy("background:ff0000", lamp, channels=3)
    assert (red[clear] == [255, 0, 0]).all()
    with pytest.raises(ValueError, match="channels=2"):
        andon.to_numpy("same", otter, channels=2)


def test_deep_images_stay_deep_unless_bytes_are_asked_for():
    deep = sample("png/16-bit.png")
    made = andon.to_numpy("same", deep)
    assert made.dtype == np.uint16 and made.max() > 255
    assert andon.to_numpy("depth:8", deep).dtype == np.uint8
    gray = andon.to_numpy("same", sample("png/gray-16-bit.png"))
    expected = np.asarray(Image.open(io.BytesIO(sample("png/gray-16-bit.png"))))
    np.testing.assert_array_equal(gray[:, :, 0], expected)


def test_an_array_owns_its_samples_and_can_be_written_to(otter):
    made = andon.to_numpy("fit:64x64", otter)
    assert made.flags.c_contiguous and made.flags.writeable
    before = made.copy()
    gc.collect()
    np.testing.assert_array_equal(made, before)
    made[:] = 0
    assert not made.any()


def test_a_frame_of_an_animation_can_be_chosen():
    animated = sample("webp/animated.webp")
    first, third = (andon.to_numpy(recipe, animated) for recipe in ["same", "frame:3"])
    assert first.shape == third.shape and (first != third).any()
