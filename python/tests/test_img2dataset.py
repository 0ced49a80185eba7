"""The resizer for img2dataset."""

import io
import pickle

import numpy as np
import pytest
from conftest import sample, sample_photos
from PIL import Image

import andon
from andon.img2dataset import Resizer, ResizeMode


def resized(data, mode, only_if_bigger=False, size=256, **more):
    return Resizer(size, mode, only_if_bigger, **more)(io.BytesIO(data))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("no", lambda w, h: (w, h)),
        ("border", lambda w, h: (256, 256)),
        ("center_crop", lambda w, h: (256, 256)),
        ("fixed", lambda w, h: (256, 256)),
        ("keep_ratio", lambda w, h: scaled(w, h, 256 / min(w, h))),
        ("keep_ratio_largest", lambda w, h: scaled(w, h, 256 / max(w, h))),
    ],
)
@pytest.mark.parametrize("encoding", ["jpg", "png", "webp"])
def test_a_mode_gives_its_size_for_large_and_small_images(mode, expected, encoding):
    quality = 9 if encoding == "png" else 90
    images = [*sample_photos()[:2], sample("jpeg/420.jpg"), sample("jpeg/17x33.jpg")]
    for data in images:
        width, height = andon.probe(data).size
        more = {"encode_format": encoding, "encode_quality": quality}
        made, *sizes, error = resized(data, mode, **more)
        assert error is None
        result = Image.open(io.BytesIO(made))
        assert sizes == [*result.size, width, height]
        assert result.size == expected(width, height)
        assert result.format == {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}[encoding]


def scaled(width, height, factor):
    return round(width * factor), round(height * factor)


def test_small_images_stay_if_only_larger_ones_are_resized():
    small = sample("jpeg/17x33.jpg")
    for mode in ResizeMode:
        _, *sizes, error = resized(small, mode, only_if_bigger=True)
        assert (sizes, error) == ([17, 33, 17, 33], None)


def test_the_middle_is_kept_and_borders_are_white(otter):
    made, *_ = resized(otter, "border", encode_format="png", encode_quality=1)
    pixels = np.asarray(Image.open(io.BytesIO(made)).convert("RGB"))
    assert (pixels[0] == 255).all() and (pixels[-1] == 255).all()
    assert (pixels[128] != 255).any()
    cropped, *_ = resized(otter, "center_crop", encode_format="png", encode_quality=1)
    whole, width, height, *_ = resized(otter, "keep_ratio", encode_format="png", encode_quality=1)
    left = (width - 256) // 2
    middle = np.asarray(Image.open(io.BytesIO(whole)))[:, left : left + 256].astype(int)
    close = np.abs(middle - np.asarray(Image.open(io.BytesIO(cropped)))).mean()
    assert close < 1, close


def test_transparent_parts_become_white_and_animations_their_first_frame():
    made, *_ = resized(sample("icons/lamp.png"), "no", encode_format="png", encode_quality=1)
    lamp = Image.open(io.BytesIO(made))
    assert lamp.mode in ("RGB", "P") and lamp.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    made, *_ = resized(sample("webp/animated.webp"), "border", encode_format="webp")
    assert andon.probe(made).frames == 1


def test_images_are_turned_upright_and_sizes_are_of_the_upright_image():
    made, width, height, *original, error = resized(
        sample("jpeg/orientation-6.jpg"), "keep_ratio_largest", size=120
    )
    assert error is None and (width, height) == (120, 80) and original == [240, 160]
    assert andon.probe(made).orientation == 1


def test_a_file_that_need_not_be_encoded_again_is_the_result(otter):
    made, *_ = resized(otter, "no", skip_reencode=True)
    assert made == otter
    made, *_ = resized(otter, "no", skip_reencode=True, encode_format="webp")
    assert andon.probe(made).format == "webp"
    assert resized(otter, "border", disable_all_reencoding=True) == (otter, *[None] * 5)


def test_images_that_are_refused_or_broken_are_errors_in_the_last_place(otter):
    refused = {
        "image too small": {"min_image_size": 100_000},
        "image area too large": {"max_image_area": 10},
        "aspect ratio too large": {"max_aspect_ratio": 1.01},
    }
    for error, limits in refused.items():
        assert resized(otter, "border", **limits) == (*[None] * 5, error)
    *nothing, error = resized(sample("broken/truncated.webp"), "border")
    assert nothing == [None] * 5 and "broken" in error
    assert resized(b"", "border")[5]
    assert Resizer(256, "no", False)(io.BytesIO(otter), [(0, 0, 1, 1)])[5] == "blurrer not defined"


def test_arguments_that_make_no_sense_are_refused():
    for wrong in [
        {"resize_mode": "stretch"},
        {"encode_format": "bmp"},
        {"encode_format": "png", "encode_quality": 95},
        {"encode_quality": 101},
        {"blurrer": object()},
    ]:
        with pytest.raises(ValueError):
            Resizer(**{"image_size": 256, "resize_mode": "no", "resize_only_if_bigger": False, **wrong})


def test_a_resizer_can_be_sent_to_other_processes(otter):
    resizer = Resizer(256, "border", False, limits=andon.Limits(pixels=10_000_000))
    again = pickle.loads(pickle.dumps(resizer))
    assert again(io.BytesIO(otter)) == resizer(io.BytesIO(otter))
