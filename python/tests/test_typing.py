"""The types that the package ships."""

import subprocess
import sys
from pathlib import Path

import andon

CHECKED = '''
import pyarrow as pa
import andon
from andon.img2dataset import Resizer

data = b""
reveal_type(andon.render("same", bytearray(data)))
reveal_type(andon.render_batch("same", pa.array([data])))
reveal_type(andon.render_batch(["same"], pa.array([data])))
reveal_type(andon.probe(data).quality)
andon.Limits(pixels=7)
Resizer(256, "border", False)
'''

WRONG = '''
import andon
andon.render(7, b"")
andon.render("same", "text")
andon.Limits(pixel=7)
'''


def mypy(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *args], capture_output=True, text=True, cwd=Path(__file__).parent
    )


def test_the_package_is_typed_and_checks_strictly(tmp_path):
    assert (Path(andon.__file__).parent / "py.typed").exists()
    file = tmp_path / "checked.py"
    file.write_text(CHECKED)
    done = mypy("mypy", "--strict", "--ignore-missing-imports", "-p", "andon")
    assert done.returncode == 0, done.stdout
    done = mypy("mypy", "--strict", "--ignore-missing-imports", str(file))
    assert done.returncode == 0, done.stdout
    assert '"bytes"' in done.stdout and '"int | None"' in done.stdout, done.stdout


def test_wrong_arguments_are_found_before_they_run(tmp_path):
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    done = mypy("mypy", str(file))
    assert "Found 3 errors" in done.stdout, done.stdout


def test_the_stubs_are_those_of_the_native_module(tmp_path):
    config = tmp_path / "mypy.ini"
    # pyarrow has no types.
    config.write_text("[mypy]\nignore_missing_imports = True\n")
    options = ["--ignore-missing-stub", "--mypy-config-file", str(config)]
    done = mypy("mypy.stubtest", "andon._andon", *options)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_documented():
    import pydoc

    # Constants have their sentences in the source alone.
    for name in filter(lambda name: callable(getattr(andon, name)), andon.__all__):
        assert pydoc.getdoc(getattr(andon, name)), name
