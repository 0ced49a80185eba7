"""Errors, limits and timeouts."""

import dataclasses
import pickle

import pytest
from conftest import sample

import andon
from andon import _andon


@pytest.mark.parametrize(
    ("recipe", "name", "kind", "status"),
    [
        ("no-such-word", "photos/otter.jpg", "recipe", 400),
        ("fit:0x", "photos/otter.jpg", "recipe", 400),
        ("fit:9x9", "broken/text.jpg", "unknown_format", 415),
        ("fit:9x9", "broken/truncated.webp", "broken", 415),
        ("fit:9x9", "broken/bomb.png", "limit", 422),
        ("crop:5000:5000:10x10", "photos/otter.jpg", "recipe", 400),
    ],
)
def test_an_error_has_a_kind_and_the_status_of_the_server(recipe, name, kind, status):
    with pytest.raises(andon.AndonError) as caught:
        andon.render(recipe, sample(name))
    error = caught.value
    assert (error.kind, error.status) == (kind, status), error
    assert str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.kind, again.status) == (str(error), kind, status)


def test_all_samples_that_are_broken_are_errors_not_crashes():
    from conftest import SAMPLES

    failed = 0
    for path in sorted((SAMPLES / "broken").iterdir()):
        try:
            andon.render("fit:20x20,as:png", path.read_bytes())
        except andon.AndonError as error:
            assert error.kind != "internal", (path, error)
            failed += 1
    assert failed > 5


def test_the_limits_are_those_of_the_engine():
    fields = [field.name for field in dataclasses.fields(andon.Limits)]
    assert fields == list(_andon.default_limits())
    assert dataclasses.asdict(andon.Limits()) == _andon.default_limits()


def test_every_function_keeps_to_limits(otter):
    limits = andon.Limits(pixels=1000)
    work = [
        lambda: andon.render("fit:9x9", otter, limits=limits),
        lambda: andon.plan("fit:9x9", otter, limits=limits),
        lambda: andon.probe(otter, limits=limits),
        lambda: andon.to_numpy("fit:9x9", otter, limits=limits),
    ]
    for call in work:
        with pytest.raises(andon.AndonError, match="over the limit of 1000") as caught:
            call()
        assert caught.value.kind == "limit"


def test_limits_must_be_limits(otter):
    for wrong in [{"pixels": 7}, 7]:
        with pytest.raises((AttributeError, TypeError)):
            andon.probe(otter, limits=wrong)
    with pytest.raises((OverflowError, ValueError, TypeError)):
        andon.probe(otter, limits=andon.Limits(pixels=-1))


def test_no_time_is_a_timeout(otter):
    with pytest.raises(andon.AndonError) as caught:
        andon.render("fit:9x9", otter, timeout=0)
    assert caught.value.kind == "interrupted"
    assert andon.render("fit:9x9", otter, timeout=3600)
    for wrong in [-1, float("nan")]:
        with pytest.raises(ValueError, match="timeout"):
            andon.render("fit:9x9", otter, timeout=wrong)
