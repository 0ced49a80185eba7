"""Arrays of images."""

import signal
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from conftest import sample, sample_photos

import andon

RECIPE = "fit:100x100,as:jpeg,q:80"


FIELDS = {
    "bytes": pa.large_binary(),
    "error": pa.string(),
    "kind": pa.string(),
    "width": pa.int32(),
    "height": pa.int32(),
    "partial": pa.bool_(),
    "source_format": pa.string(),
    "source_width": pa.int32(),
    "source_height": pa.int32(),
}
NOTHING = dict.fromkeys(FIELDS)


def expected(recipe, image):
    row = dict(NOTHING)
    try:
        source = andon.probe(image)
        row["source_format"] = source.format
        row["source_width"], row["source_height"] = source.size
    except andon.AndonError:
        pass
    try:
        row["bytes"] = andon.render(recipe, image)
        row["width"], row["height"] = andon.probe(row["bytes"]).size
        row["partial"] = False
    except andon.AndonError as error:
        row["error"], row["kind"] = str(error), error.kind
    return row


def mixed(count=40):
    """Photos, garbage and truncated files."""
    photos = sample_photos()
    images = [photos[number % len(photos)] for number in range(count)]
    images[3] = b"garbage"
    images[11] = b""
    images[17] = photos[0][:1000]
    images[29] = photos[1][: len(photos[1]) // 2]
    return images


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_every_row_is_what_a_single_call_gives_and_in_its_place(kind, threads):
    images = mixed()
    made = andon.render_batch(RECIPE, pa.array(images, kind), threads=threads)
    assert made.type == pa.struct(FIELDS)
    assert made.to_pylist() == [expected(RECIPE, image) for image in images]
    failed = [row for row, error in enumerate(made.field("error")) if error.is_valid]
    assert failed == [3, 11, 17, 29]


def test_null_stays_null(otter):
    made = andon.render_batch(RECIPE, pa.array([None, otter, None], pa.binary()))
    assert made.to_pylist()[0] == made.to_pylist()[2] == NOTHING
    assert made[1]["bytes"].is_valid


def test_an_array_of_nothing_but_null_has_no_type_of_its_own(otter):
    assert andon.render_batch(RECIPE, pa.array([None, None])).to_pylist() == [NOTHING] * 2
    assert andon.render_batch(RECIPE, pa.nulls(2, pa.binary())).to_pylist() == [NOTHING] * 2


def test_dictionaries_are_read_row_by_row(otter):
    small = sample("jpeg/420.jpg")
    images = [otter, None, small, otter, b"garbage", small]
    rows = [NOTHING if image is None else expected(RECIPE, image) for image in images]
    for kind in [pa.binary(), pa.large_binary()]:
        column = pa.array(images, kind).dictionary_encode()
        assert andon.render_batch(RECIPE, column).to_pylist() == rows
        assert andon.render_batch(RECIPE, column.slice(2, 3)).to_pylist() == rows[2:5]
    empty = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.binary()))
    assert andon.render_batch(RECIPE, empty).to_pylist() == [NOTHING]
    null = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array([small, None], pa.binary()))
    assert andon.render_batch(RECIPE, null).to_pylist() == [NOTHING, expected(RECIPE, small)]


def test_sizes_are_those_of_upright_images():
    turned = sample("jpeg/orientation-6.jpg")
    row = andon.render_batch("fit:120x120,as:png", pa.array([turned])).to_pylist()[0]
    assert (row["source_width"], row["source_height"]) == (240, 160)
    assert (row["width"], row["height"]) == (120, 80)


def test_what_there_is_of_a_damaged_image_is_shown_if_that_is_asked_for(otter):
    images = pa.array([otter, otter[: len(otter) // 2], b"garbage"])
    refused = andon.render_batch(RECIPE, images).to_pylist()
    assert [row["kind"] for row in refused] == [None, "broken", "unknown_format"]
    assert refused[1]["source_format"] == "jpeg"
    shown = andon.render_batch(RECIPE, images, on_damage="partial").to_pylist()
    assert [row["kind"] for row in shown] == [None, None, "unknown_format"]
    assert [row["partial"] for row in shown] == [False, True, None]
    assert shown[0] == refused[0] and shown[1]["width"] == 100


def test_chunks_slices_and_empty_arrays_are_arrays_too():
    images = mixed(30)
    rows = [expected(RECIPE, image) for image in images]
    chunked = pa.chunked_array([images[:5], [], images[5:]], pa.large_binary())
    assert andon.render_batch(RECIPE, chunked).to_pylist() == rows
    sliced = pa.array(images, pa.binary()).slice(3, 9)
    assert andon.render_batch(RECIPE, sliced).to_pylist() == rows[3:12]
    for empty in [pa.array([], pa.binary()), pa.chunked_array([], pa.binary())]:
        assert andon.render_batch(RECIPE, empty).to_pylist() == []


def test_any_library_of_arrow_arrays_will_do(otter):
    class Capsule:
        """What the Arrow PyCapsule interface asks for, and nothing else."""

        def __arrow_c_array__(self, requested_schema=None):
            return pa.array([otter]).__arrow_c_array__(requested_schema)

    assert andon.render_batch(RECIPE, Capsule()).to_pylist() == [expected(RECIPE, otter)]


def test_several_recipes_are_several_arrays_with_the_bytes_of_single_calls():
    recipes = ["fit:400x400,as:jpeg,q:80", "cover:64x64,as:webp,q:70", "fit:200x200,as:png"]
    images = mixed(30)
    columns = andon.render_batch(recipes, pa.array(images, pa.binary()), threads=2)
    assert len(columns) == len(recipes)
    for recipe, column in zip(recipes, columns):
        assert column.to_pylist() == [expected(recipe, image) for image in images]


def test_overlays_limits_and_timeouts_hold_for_every_row(otter):
    images = pa.array([otter, sample("jpeg/420.jpg")], pa.binary())
    lamp = {"lamp.png": sample("icons/lamp.png")}
    recipe = "fit:200x200,over:lamp.png,as:png"
    made = andon.render_batch(recipe, images, overlays=lamp)
    assert made[0]["bytes"].as_py() == andon.render(recipe, otter, overlays=lamp)
    made = andon.render_batch(RECIPE, images, limits=andon.Limits(pixels=200_000))
    assert [row["error"] is None for row in made.to_pylist()] == [False, True]
    made = andon.render_batch(RECIPE, images, timeout=0)
    assert all("deadline" in row["error"] for row in made.to_pylist())


def test_what_cannot_be_a_batch_is_refused():
    images = pa.array([b"x"])
    for other in [pa.array(["text"]), pa.array([1])]:
        with pytest.raises(TypeError, match="binary"):
            andon.render_batch(RECIPE, other)
    with pytest.raises(TypeError, match="not their names"):
        andon.render_batch(RECIPE, pa.array(["photo.jpg"]))
    with pytest.raises(TypeError, match=r"pyarrow.array\(images, pyarrow.binary\(\)\), not a list"):
        andon.render_batch(RECIPE, [b"x"])
    with pytest.raises(ValueError, match="on_damage='show': 'refuse' or 'partial'"):
        andon.render_batch(RECIPE, images, on_damage="show")
    with pytest.raises(ValueError, match="threads=-1"):
        andon.render_batch(RECIPE, images, threads=-1)


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("crop:1", "crop:1"),
        ("fitt:250x250", "did you mean `fit`"),
        ("fit:9x9,as:jpge", "did you mean `jpeg`"),
        ("fit:9x9,as:png,q:80", "png has no such option"),
        ("over:lamp.png", "lamp.png"),
    ],
)
def test_a_mistyped_recipe_fails_before_the_first_image(recipe, said):
    images = pa.array([b"x"] * 5000)
    for recipes in [recipe, [RECIPE, recipe]]:
        with pytest.raises(andon.AndonError, match=said) as caught:
            andon.render_batch(recipes, images)
        assert caught.value.kind == "recipe"


def test_other_python_threads_run_meanwhile(otter):
    """A thread that must run between two others for them to end."""
    images, begun, seen = pa.array([otter] * 20), threading.Event(), []

    def other():
        begun.wait()
        seen.append(andon.render(RECIPE, otter))

    thread = threading.Thread(target=other)
    thread.start()
    begun.set()
    made = andon.render_batch(RECIPE, images, threads=2)
    thread.join()
    assert seen == [made[0]["bytes"].as_py()]


ENDLESS = """
import signal, sys, andon, pyarrow as pa
# Where tests run in the background of a shell, Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
photo = open(sys.argv[1], "rb").read()
chunks = [pa.array([photo])] * 100_000
try:
    print("working", flush=True)
    andon.render_batch("fit:100x100,as:jpeg", pa.chunked_array(chunks), threads=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_batch_that_would_take_minutes():
    from conftest import SAMPLES

    photo = str(SAMPLES / "photos/otter.jpg")
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, photo], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out == "interrupted\n" and process.returncode == 0
