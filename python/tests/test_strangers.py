"""How far an image is trusted: which formats are read, and in whose process."""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import andon
import pytest
from conftest import SAMPLES, poison

DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>'


def test_drawings_are_read_only_if_they_are_asked_for() -> None:
    with pytest.raises(andon.AndonError, match="svg images are not read unless") as raised:
        andon.render("fit:20x20,as:png", DRAWING)
    assert (raised.value.kind, raised.value.status) == ("unsupported", 415)
    assert andon.render("fit:20x20,as:png", DRAWING, formats=andon.FORMATS).startswith(b"\x89PNG")
    with pytest.raises(andon.AndonError):
        andon.probe(DRAWING, formats=["png"])


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'sgv' is none of jpeg, png"):
        andon.probe(DRAWING, formats=["sgv"])
    with pytest.raises(TypeError, match="svg"):
        andon.probe(DRAWING, formats="svg")


@pytest.mark.parametrize("name", ["large/ocean-waves.jpg", "png/alpha.png"])
def test_worker_processes_make_the_same_bytes(name: str) -> None:
    image = (SAMPLES / name).read_bytes()
    for recipe in ["fit:300x200,as:webp,q:80", "fit:100x100,as:avif", "as:png,fit:50x50"]:
        assert andon.render(recipe, image, isolate=True) == andon.render(recipe, image)
    assert andon.probe(image, isolate=True) == andon.probe(image)


def workers() -> list[int]:
    """The processes that were started by those that this one started."""

    def children(of: int) -> list[int]:
        every = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        return [it for it in every if parent(it) == of]

    return [worker for starter in children(os.getpid()) for worker in children(starter)]


def parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def test_a_worker_that_is_killed_costs_no_more_than_one_image() -> None:
    image = (SAMPLES / "png/alpha.png").read_bytes()
    expected = andon.render("fit:50x50,as:png", image, isolate=True)
    assert workers()
    for worker in workers():
        os.kill(worker, signal.SIGKILL)
    failed = 0
    for _ in range(40):
        try:
            assert andon.render("fit:50x50,as:png", image, isolate=True) == expected
        except andon.AndonError as error:
            assert error.kind == "crashed"
            failed += 1
    # Each of those that were killed may have been somebody's.
    assert failed < 20


def shrink(image: bytes) -> bytes:
    return andon.render("fit:50x50,as:png", image, isolate=True)


def test_a_fork_has_worker_processes_of_its_own() -> None:
    image = (SAMPLES / "png/alpha.png").read_bytes()
    expected = shrink(image)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        assert list(pool.map(shrink, [image] * 8)) == [expected] * 8


def row(given: tuple[bytes, bool]) -> bytes | str:
    image, isolate = given
    try:
        return andon.render("fit:50x50,as:png", image, formats=andon.FORMATS, isolate=isolate, timeout=10)
    except andon.AndonError as error:
        return error.kind


@pytest.mark.parametrize("isolate", [False, True])
def test_a_poisonous_row_among_four_hundred_costs_that_row(isolate: bool) -> None:
    image = (SAMPLES / "png/alpha.png").read_bytes()
    expected = andon.render("fit:50x50,as:png", image)
    rows = [image] * 400
    hostile = poison()
    places = [400 * (2 * at + 1) // (2 * len(hostile)) for at in range(len(hostile))]
    for place, drawing in zip(places, hostile):
        rows[place] = drawing
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        made = list(pool.map(row, [(image, isolate) for image in rows], chunksize=50))
    assert [place for place, it in enumerate(made) if it != expected] == places
    assert all(isinstance(made[place], str) or made[place].startswith(b"\x89PNG") for place in places)
