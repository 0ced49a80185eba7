"""Resize the images of Parquet files with Ray Data: python with_ray.py IN OUT

IN has the columns name and bytes; OUT is a folder for Parquet files with name, bytes and error.
"""

import sys

import pyarrow as pa
import ray.data

import andon

RECIPE = "fit:256x256,as:jpeg,q:80"


def resize(table: pa.Table) -> pa.Table:
    """A function instead of a class, because there is nothing to load first. Ray gives each task one core, so one thread is used."""
    made = andon.render_batch(RECIPE, table["bytes"])
    return pa.table(
        {"name": table["name"], "bytes": made.field("bytes"), "error": made.field("error")}
    )


def main(source: str, target: str) -> None:
    # Blocks are processed in parallel, so there should be several for each core.
    images = ray.data.read_parquet(source, override_num_blocks=16)
    resized = images.map_batches(
        resize, batch_format="pyarrow", batch_size=64, zero_copy_batch=True
    )
    resized.write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
