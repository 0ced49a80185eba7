//! The document of `image_filter size`.

use crate::document::{About, Document};

/// Stored size and format of the source.
#[derive(Debug)]
pub(super) struct Size;

impl Document for Size {
    fn name(&self) -> String {
        "image_filter size".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let (width, height, format) =
            (about.source.width, about.source.height, about.source.format);
        format!(
            "{{ \"img\" : {{ \"width\": {width}, \"height\": {height}, \"type\": \"{format}\" }} }}\r\n"
        )
    }
}
