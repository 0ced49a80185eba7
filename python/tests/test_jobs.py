"""The examples for Ray Data, Daft and Spark, over 10,000 images, against single calls."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SAMPLES, poison

import andon

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/python"
RECIPE = "fit:256x256,as:jpeg,q:80"
COUNT = 10_000
GARBAGE_EVERY = 100


@cache
def distinct() -> tuple[bytes, ...]:
    """Small images of several formats."""
    files = [path for folder in ["jpeg", "png", "webp"] for path in (SAMPLES / folder).iterdir()]
    return tuple(path.read_bytes() for path in sorted(files) if path.stat().st_size < 60_000)


def image(number: int) -> bytes:
    if number % GARBAGE_EVERY == 7:
        return f"garbage {number}".encode()
    return distinct()[number % len(distinct())]


@cache
def single(data: bytes) -> tuple[bytes | None, str | None]:
    try:
        return andon.render(RECIPE, data), None
    except andon.AndonError as error:
        return None, str(error)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """Parquet files of 10,000 images, of which one in a hundred is garbage."""
    folder = tmp_path_factory.mktemp("images")
    for part in range(8):
        numbers = range(part, COUNT, 8)
        table = pa.table(
            {
                "name": [str(number) for number in numbers],
                "bytes": pa.array([image(number) for number in numbers], pa.large_binary()),
            }
        )
        pq.write_table(table, folder / f"{part}.parquet")
    return folder


def check(target: Path) -> None:
    """Every row is there once, and is what a single call gives."""
    made = pq.read_table(target)
    rows = {
        int(name): (data, error)
        for name, data, error in zip(*(made[key].to_pylist() for key in ["name", "bytes", "error"]))
    }
    assert len(made) == len(rows) == COUNT
    wrong = [number for number in range(COUNT) if rows[number] != single(image(number))]
    assert wrong == []
    failed = {number for number, (_, error) in rows.items() if error is not None}
    assert failed == {number for number in range(COUNT) if number % GARBAGE_EVERY == 7}


def run(script: str, *arguments: Path | str) -> None:
    """Runs an example as its users do. What Ray and Spark start ends with it."""
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYSPARK_PYTHON"] = sys.executable
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_a_job_of_ray_gives_the_bytes_of_single_calls(source, tmp_path):
    pytest.importorskip("ray")
    run(EXAMPLES / "with_ray.py", source, tmp_path / "made")
    check(tmp_path / "made")


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[4])
import with_ray

once, resize = sys.argv[3], with_ray.resize

def killed(table):
    made = resize(table)
    try:
        os.close(os.open(once, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return made
    os.kill(os.getpid(), signal.SIGKILL)

with_ray.resize = killed
with_ray.main(*sys.argv[1:3])
"""


def test_a_worker_of_ray_that_is_killed_loses_nothing(source, tmp_path):
    pytest.importorskip("ray")
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    run(script, source, tmp_path / "made", tmp_path / "once", EXAMPLES)
    assert (tmp_path / "once").exists(), "no worker was killed"
    check(tmp_path / "made")


def test_a_job_of_daft_gives_the_bytes_of_single_calls(source, tmp_path):
    pytest.importorskip("daft")
    run(EXAMPLES / "with_daft.py", source, tmp_path / "made")
    check(tmp_path / "made")


def test_a_job_of_spark_gives_the_bytes_of_single_calls(source, tmp_path):
    pytest.importorskip("pyspark")
    run(EXAMPLES / "with_spark.py", source, tmp_path / "made")
    check(tmp_path / "made")


# As a batch is rendered of images that nobody knows; with drawings, which are read only if that is asked for.
ISOLATED = ", formats=andon.FORMATS, isolate=True, timeout=20)"


@pytest.fixture(scope="module")
def strangers(tmp_path_factory) -> Path:
    """Parquet files of 400 images, of which some are made to end or to hold whoever reads them."""
    folder = tmp_path_factory.mktemp("strangers")
    images = [distinct()[number % len(distinct())] for number in range(400)]
    for place, hostile in hostile_rows().items():
        images[place] = hostile
    for part in range(4):
        numbers = range(part, 400, 4)
        table = pa.table(
            {
                "name": [str(number) for number in numbers],
                "bytes": pa.array([images[number] for number in numbers], pa.large_binary()),
            }
        )
        pq.write_table(table, folder / f"{part}.parquet")
    return folder


@cache
def hostile_rows() -> dict[int, bytes]:
    """Hostile images by their rows: generated ones, and those that lie beside the project, if they do."""
    beside = Path(__file__).resolve().parents[3] / "shared/cases/hostile"
    files = [path for path in sorted(beside.glob("*")) if path.suffix in {".svg", ".avif", ".tif", ".ico"}]
    images = poison() + [path.read_bytes() for path in files]
    return {400 * (2 * at + 1) // (2 * len(images)): image for at, image in enumerate(images)}


@pytest.mark.parametrize("isolate", [False, True], ids=["by default", "isolated"])
@pytest.mark.parametrize("engine", ["ray", "daft", "pyspark"])
def test_a_hostile_image_costs_its_row_and_no_other(engine: str, isolate: bool, strangers: Path, tmp_path: Path) -> None:
    pytest.importorskip(engine)
    example = (EXAMPLES / f"with_{engine.removeprefix('py')}.py").read_text()
    if isolate:
        example, changed = re.subn(r"(andon\.render_batch\(.*)\)$", rf"\1{ISOLATED}", example, flags=re.MULTILINE)
        assert changed == 1
    script = tmp_path / "example.py"
    script.write_text(example)
    run(script, strangers, tmp_path / "made")
    made = pq.read_table(tmp_path / "made")
    rows = dict(zip(made["name"].to_pylist(), zip(made["bytes"].to_pylist(), made["error"].to_pylist())))
    assert len(made) == len(rows) == 400
    good = [number for number in range(400) if number not in hostile_rows()]
    assert [number for number in good if rows[str(number)] != single(distinct()[number % len(distinct())])] == []
    for number in hostile_rows():
        data, error = rows[str(number)]
        assert error or data.startswith(b"\xff\xd8"), number
