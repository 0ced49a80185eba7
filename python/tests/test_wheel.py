"""What the wheel has beside the module."""

from importlib import metadata

import pytest

import andon


def files() -> list[str]:
    try:
        return [str(file) for file in metadata.files("andon") or []]
    except metadata.PackageNotFoundError:
        pytest.skip("it is not installed from a wheel")


def test_the_version_is_that_of_the_wheel():
    files()
    assert andon.__version__ == metadata.version("andon")


def test_the_wheel_runs_with_the_glibc_of_distributions_of_2018():
    files()
    tags = metadata.distribution("andon").read_text("WHEEL") or ""
    assert "cp311-abi3-manylinux_2_28_" in tags


def test_the_licences_of_all_that_is_linked_are_in_the_wheel():
    licences = [file for file in files() if "/licenses/" in file]
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "third-party-notices.txt"]:
        assert any(file.endswith(name) for file in licences), name
    notices = metadata.distribution("andon").read_text("licenses/third-party-notices.txt") or ""
    for name in ["libwebp", "libaom", "libjxl", "pyo3 "]:
        assert name in notices, name
