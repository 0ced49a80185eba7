//! Collects the results of a recipe for many images in an Arrow array.

use std::sync::Arc;

use andon_pixels::{Error, Info, Rendered};
use arrow_array::builder::{BooleanBuilder, Int32Builder, LargeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, StructArray};
use arrow_schema::{DataType, Field};

/// The result of one recipe for one image.
pub(crate) type Outcome = Result<Rendered, Error>;

/// The facts about a source image that the result array contains in the image's row.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    format: &'static str,
    /// Width and height in px of the upright image.
    size: (u32, u32),
}

impl Source {
    pub(crate) fn of(info: &Info) -> Self {
        Self {
            format: info.format,
            size: info.orientation.size(info.width, info.height),
        }
    }
}

/// A builder of a struct array with one row for each image. Its fields are documented in docs/python.md.
pub(crate) struct Column {
    bytes: LargeBinaryBuilder,
    error: StringBuilder,
    kind: StringBuilder,
    width: Int32Builder,
    height: Int32Builder,
    partial: BooleanBuilder,
    source_format: StringBuilder,
    source_width: Int32Builder,
    source_height: Int32Builder,
}

impl Column {
    /// Creates a builder with room for `rows` rows, and for `bytes` bytes in all results together.
    pub(crate) fn new(rows: usize, bytes: usize) -> Self {
        let texts = || StringBuilder::with_capacity(rows, 0);
        let numbers = || Int32Builder::with_capacity(rows);
        Self {
            bytes: LargeBinaryBuilder::with_capacity(rows, bytes),
            error: texts(),
            kind: texts(),
            width: numbers(),
            height: numbers(),
            partial: BooleanBuilder::with_capacity(rows),
            source_format: texts(),
            source_width: numbers(),
            source_height: numbers(),
        }
    }

    /// Adds a row for an image. `outcome` is `None` for a null in the input array.
    pub(crate) fn push(&mut self, image: &[u8], source: Option<Source>, outcome: Option<&Outcome>) {
        let result = outcome.and_then(|outcome| outcome.as_ref().ok());
        let error = outcome.and_then(|outcome| outcome.as_ref().err());
        self.bytes.append_option(result.map(|it| it.bytes(image)));
        self.error.append_option(error.map(ToString::to_string));
        self.kind.append_option(error.map(Error::kind));
        self.width.append_option(result.map(|it| number(it.width)));
        self.height
            .append_option(result.map(|it| number(it.height)));
        self.partial.append_option(result.map(|it| it.damaged));
        self.source_format.append_option(source.map(|it| it.format));
        self.source_width
            .append_option(source.map(|it| number(it.size.0)));
        self.source_height
            .append_option(source.map(|it| number(it.size.1)));
    }

    pub(crate) fn finish(mut self) -> StructArray {
        let columns: [(&str, DataType, ArrayRef); 9] = [
            (
                "bytes",
                DataType::LargeBinary,
                Arc::new(self.bytes.finish()),
            ),
            ("error", DataType::Utf8, Arc::new(self.error.finish())),
            ("kind", DataType::Utf8, Arc::new(self.kind.finish())),
            ("width", DataType::Int32, Arc::new(self.width.finish())),
            ("height", DataType::Int32, Arc::new(self.height.finish())),
            (
                "partial",
                DataType::Boolean,
                Arc::new(self.partial.finish()),
            ),
            (
                "source_format",
                DataType::Utf8,
                Arc::new(self.source_format.finish()),
            ),
            (
                "source_width",
                DataType::Int32,
                Arc::new(self.source_width.finish()),
            ),
            (
                "source_height",
                DataType::Int32,
                Arc::new(self.source_height.finish()),
            ),
        ];
        let field = |(name, kind, column)| (Arc::new(Field::new(name, kind, true)), column);
        StructArray::from(columns.map(field).to_vec())
    }
}

/// Converts a length in px to a signed integer, because not every library supports unsigned ones. No side of an image
/// exceeds the range of an `i32`.
fn number(side: u32) -> i32 {
    i32::try_from(side).unwrap_or(i32::MAX)
}
