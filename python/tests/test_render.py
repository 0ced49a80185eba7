"""One image."""

import array
import copy
import io
import mmap
import os
import pickle
import platform
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from conftest import SAMPLES, sample

import andon

RECIPE = "fit:250x250,as:webp,q:80"


def test_the_result_is_the_image_that_the_recipe_asks_for(otter):
    made = andon.probe(andon.render(RECIPE, otter))
    assert (made.format, max(made.size)) == ("webp", 250)


def test_without_a_format_that_of_the_source_stays(otter):
    for recipe in ["fit:50x50", "fit:50x50,as:auto"]:
        assert andon.probe(andon.render(recipe, otter)).format == "jpeg"


def test_every_buffer_of_bytes_gives_the_same_result(otter):
    expected = andon.render(RECIPE, otter)
    twice = memoryview(b"".join(bytes([byte, 0]) for byte in otter))[::2]
    with open(SAMPLES / "photos/otter.jpg", "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    buffers = [
        bytearray(otter),
        memoryview(otter),
        twice,
        np.frombuffer(otter, np.uint8),
        np.frombuffer(otter, np.int8).copy(),
        pa.py_buffer(otter),
        array.array("B", otter),
        mapped,
    ]
    for buffer in buffers:
        assert andon.render(RECIPE, buffer) == expected, type(buffer)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("photo.jpg", r"'photo.jpg' is of type str, and .* open\(name, \"rb\"\).read\(\)"),
        (Path("photo.jpg"), r"PosixPath\('photo.jpg'\) is of type PosixPath, and .* path.read_bytes\(\)"),
        (io.BytesIO(), r"is of type BytesIO, and .* file.read\(\)"),
        (7, "7 is of type int, and an image is the bytes of its file"),
        (None, "None is of type NoneType"),
        (np.zeros(4, np.uint16), "items of 2 bytes"),
    ],
)
def test_what_is_no_buffer_of_bytes_is_a_type_error_that_says_how_to_get_one(other, said):
    work = [
        lambda: andon.render(RECIPE, other),
        lambda: andon.probe(other),
        lambda: andon.to_numpy(RECIPE, other),
        lambda: andon.render("over:a.png", b"", overlays={"a.png": other}),
    ]
    for call in work:
        with pytest.raises(TypeError, match=said):
            call()


def test_images_come_out_upright():
    turned = sample("jpeg/orientation-6.jpg")
    for recipe in ["fit:120x120,as:jpeg", "fit:120x120,as:webp", "cover:120x80,as:png"]:
        made = andon.probe(andon.render(recipe, turned))
        assert (made.width, made.height, made.orientation) == (120, 80, 1), recipe
    assert andon.to_numpy("same", turned).shape[:2] == (160, 240)
    stored = andon.probe(andon.render("stored,fit:120x120,as:jpeg", turned))
    assert (stored.width, stored.height, stored.orientation) == (80, 120, 6)


@pytest.mark.parametrize("isolate", [False, True])
def test_what_there_is_of_a_damaged_image_is_shown_if_that_is_asked_for(otter, isolate):
    cut = otter[: len(otter) // 2]
    with pytest.raises(andon.AndonError) as caught:
        andon.render(RECIPE, cut, isolate=isolate)
    assert caught.value.kind == "broken"
    made = andon.probe(andon.render(RECIPE, cut, isolate=isolate, on_damage="partial"))
    assert made.size == andon.probe(andon.render(RECIPE, otter)).size
    pixels = andon.to_numpy("fit:64x64", cut, isolate=isolate, on_damage="partial")
    whole = andon.to_numpy("fit:64x64", otter)
    assert pixels.shape == whole.shape and (pixels[:16] == whole[:16]).all()


def test_a_writable_buffer_may_change_while_it_is_worked_on(otter):
    expected = andon.render(RECIPE, otter)
    buffer, done = bytearray(otter), threading.Event()

    def scribble():
        while not done.is_set():
            buffer[:] = bytes(len(buffer))
            buffer[:] = otter

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        # The copy is taken under the interpreter's lock: between two writes, never amid one.
        for _ in range(20):
            try:
                assert andon.render(RECIPE, buffer) == expected
            except andon.AndonError as error:
                assert error.kind == "unknown_format"
    finally:
        done.set()
        writer.join()


def test_a_result_that_is_the_source_is_the_same_object(otter):
    assert andon.plan("original", otter).is_copy
    assert andon.render("original", otter) is otter


def test_overlays_are_given_by_name(otter):
    lamp = sample("icons/lamp.png")
    plain = andon.render("fit:200x200,as:png", otter)
    recipe = "fit:200x200,over:lamp.png:5:5,as:png"
    composed = andon.render(recipe, otter, overlays={"lamp.png": bytearray(lamp)})
    assert composed != plain
    with pytest.raises(andon.AndonError, match="`lamp.png`") as caught:
        andon.render(recipe, otter)
    assert caught.value.kind == "recipe"


def test_a_plan_says_what_will_be_done_and_prints_itself(otter):
    plan = andon.plan("fit:250x250,as:webp,q:80", otter)
    assert str(plan) == plan.text
    assert plan.text.startswith("decode jpeg") and plan.text.endswith("encode webp q80")
    assert (plan.format, plan.media_type) == ("webp", "image/webp")
    assert plan.recipe.startswith("exact:250x")
    assert max(plan.width, plan.height) == 250
    assert 0 < plan.seconds < 10 and plan.peak_bytes > len(otter)
    assert not plan.is_copy and plan.notes == ()


def test_a_probe_reads_the_header():
    turned = andon.probe(sample("jpeg/orientation-6.jpg"))
    assert (turned.width, turned.height, turned.orientation) == (160, 240, 6)
    assert turned.size == (240, 160)
    assert turned.colour == "ycbcr" and turned.media_type == "image/jpeg"
    assert not turned.alpha and turned.frames == 1 and turned.depth == 8
    lamp = andon.probe(sample("icons/lamp.png"))
    assert lamp.alpha and lamp.lossless and lamp.quality is None
    assert andon.probe(sample("webp/animated.webp")).frames > 1
    assert andon.probe(sample("png/16-bit.png")).depth == 16
    assert andon.probe(sample("jpeg/icc-srgb.jpg")).profile
    assert andon.probe(sample("jpeg/cmyk.jpg")).colour == "cmyk"


def test_facts_plans_and_limits_can_be_copied_and_pickled(otter):
    for value in [andon.probe(otter), andon.plan(RECIPE, otter), andon.Limits(side=7)]:
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.deepcopy(value) == value


def test_threads_work_at_the_same_time(otter):
    """Two threads that wait for each other after each image: neither ends if one is kept out."""
    barrier, made = threading.Barrier(2, timeout=60), []

    def work():
        for _ in range(3):
            made.append(andon.render(RECIPE, otter))
            barrier.wait()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [andon.render(RECIPE, otter)] * 6


FAULTS = """
import resource, sys
import andon

photos = [open(name, "rb").read() for name in sys.argv[1:]]

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for photo in photos:
        andon.render("fit:256x256,as:jpeg,q:80", photo)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / len(photos)

faults()
print(faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have other rules")
def test_memory_is_used_again_for_the_next_image_unless_the_environment_says_otherwise():
    photos = [str(path) for path in sorted((SAMPLES / "large").glob("*.jpg"))]

    def faults(**environment: str) -> float:
        run = [sys.executable, "-c", FAULTS, *photos]
        environment = {**os.environ, **environment}
        return float(subprocess.run(run, env=environment, check=True, capture_output=True).stdout)

    assert faults() < 20
    assert faults(MALLOC_TRIM_THRESHOLD_="0") > 20
