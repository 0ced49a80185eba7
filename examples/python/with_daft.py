"""Resize the images of Parquet files with Daft: python with_daft.py IN OUT

IN has the columns name and bytes; OUT is a folder for Parquet files with name, bytes and error.
"""

import os
import sys

import daft
import pyarrow as pa
from daft import DataType

import andon

RECIPE = "fit:256x256,as:jpeg,q:80"


@daft.func.batch(
    return_dtype=DataType.struct({"bytes": DataType.binary(), "error": DataType.string()}),
    batch_size=64,
)
def resize(images: daft.Series) -> pa.Array:
    made = andon.render_batch(RECIPE, images.to_arrow(), threads=os.cpu_count() or 1)
    return pa.StructArray.from_arrays([made.field("bytes"), made.field("error")], ["bytes", "error"])


def main(source: str, target: str) -> None:
    images = daft.read_parquet(source)
    made = images.into_batches(64).select("name", resize(daft.col("bytes")).alias("made"))
    made.select("name", made["made"]["bytes"], made["made"]["error"]).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
