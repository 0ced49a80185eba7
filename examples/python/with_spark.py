"""Resize the images of Parquet files with Spark: python with_spark.py IN OUT

IN has the columns name and bytes; OUT is a folder for Parquet files with name, bytes and error.
"""

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession

import andon

RECIPE = "fit:256x256,as:jpeg,q:80"


def resize(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        made = andon.render_batch(RECIPE, batch["bytes"])
        columns = {
            "name": batch["name"],
            # Spark's type `binary` is limited to 2 GiB per batch.
            "bytes": made.field("bytes").cast(pa.binary()),
            "error": made.field("error"),
        }
        yield pa.RecordBatch.from_pydict(columns)


def main(source: str, target: str) -> None:
    spark = SparkSession.builder.appName("resize").getOrCreate()
    # All rows of a batch are in memory at the same time, and images are larger than numbers.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
    images = spark.read.parquet(source)
    resized = images.mapInArrow(resize, "name string, bytes binary, error string")
    resized.write.parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
