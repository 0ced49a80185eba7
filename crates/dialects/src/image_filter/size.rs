//! The JSON document of `image_filter size`.

use crate::document::{About, Document};
use crate::errors::{Errors, Fault, Told};

/// Error style of `image_filter size`: like nginx's image filter, it answers with an empty JSON object and status 200
/// if there is no image.
#[derive(Debug)]
pub(super) struct NoSize;

impl Errors for NoSize {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Busy | Fault::Late | Fault::Method | Fault::Internal => default,
            _ => 200,
        }
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let status = error.status;
        (status == 200).then(|| ("application/json", "{}\r\n".to_owned()))
    }
}

/// JSON document with the stored size and the format of the source.
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
