//! Responses of thumbor and imagor: errors, fixed texts and headers.

use super::filters::Filter;
use super::flavour::Flavour;
use crate::disposition;
use crate::errors::{ErrorStyle, Errors, Fault, Told};
use crate::request::{AnswerStyle, Source};

pub(super) fn errors(flavour: Flavour) -> ErrorStyle {
    match flavour {
        Flavour::Thumbor => ErrorStyle(&Answers(Flavour::Thumbor)),
        Flavour::Imagor => ErrorStyle(&Answers(Flavour::Imagor)),
    }
}

/// Returns the response to a path that is not an image: health checks, and the `favicon.ico` that browsers request.
pub(super) fn text_at(flavour: Flavour, path: &str) -> Option<&'static str> {
    match (flavour, path) {
        (Flavour::Thumbor, "healthcheck") => Some("WORKING"),
        (Flavour::Imagor, "healthcheck" | "favicon.ico") => Some(""),
        _ => None,
    }
}

#[derive(Debug)]
struct Answers(Flavour);

impl Errors for Answers {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match (self.0, fault) {
            (_, Fault::Missing) => 404,
            (Flavour::Thumbor, Fault::Origin) => 502,
            (Flavour::Thumbor, Fault::Late) => 504,
            (Flavour::Thumbor, Fault::Busy | Fault::Internal | Fault::Method | Fault::Expired) => {
                default
            }
            (Flavour::Thumbor, _) => 400,
            (Flavour::Imagor, Fault::Url) => 400,
            (Flavour::Imagor, Fault::Signature | Fault::Source) => 403,
            (Flavour::Imagor, Fault::NotImage | Fault::Unsupported | Fault::Damaged) => 406,
            (Flavour::Imagor, Fault::Limit) => 422,
            (Flavour::Imagor, Fault::Late) => 408,
            (Flavour::Imagor, Fault::Expired) => 410,
            (Flavour::Imagor, Fault::Origin) => 500,
            (Flavour::Imagor, Fault::Busy | Fault::Internal | Fault::Method) => default,
        }
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let Told {
            status, sentence, ..
        } = *error;
        match self.0 {
            Flavour::Thumbor => Some(("text/plain", String::new())),
            Flavour::Imagor => {
                let message = match status {
                    403 => "url signature mismatch",
                    404 => "not found",
                    406 => "unsupported format",
                    408 => "timeout",
                    410 => "expired",
                    _ => sentence,
                };
                let body = serde_json::json!({ "message": message, "status": status });
                Some(("application/json", body.to_string()))
            }
        }
    }
}

/// Returns the file name under which a result is saved: `requested` or, if that is empty, the name of the source. If
/// the name lacks the extension of the result's format, a placeholder for it is appended.
pub(super) fn file_name(requested: &str, filters: &[Filter], source: &Source) -> String {
    let place = source.place();
    let path = place.split(['?', '#']).next().unwrap_or_default();
    let source_name = path.rsplit('/').next().unwrap_or_default();
    let name = if requested.is_empty() {
        source_name
    } else {
        requested
    };
    let extension = |name: &str| {
        let (_, extension) = name.rsplit_once('.')?;
        Some(extension.to_ascii_lowercase())
    };
    let filter_format = filters.iter().rev().find_map(|filter| match filter {
        Filter::Format(format) => Some(format.clone()),
        _ => None,
    });
    let same = |format: &str, extension: &str| match format {
        "jpg" | "jpeg" => ["jpg", "jpeg"].contains(&extension),
        "tif" | "tiff" => ["tif", "tiff"].contains(&extension),
        format => format == extension,
    };
    let format = filter_format.or_else(|| extension(source_name));
    match (format, extension(name)) {
        (Some(format), Some(extension)) if same(&format, &extension) => name.to_owned(),
        _ if name.is_empty() => String::new(),
        _ => format!("{name}.{}", AnswerStyle::EXTENSION),
    }
}

/// Returns the `Content-Disposition` header: `inline`, or `attachment` with a file name if `attachment` is not empty.
pub(super) fn disposition(attachment: Option<&str>) -> Vec<(&'static str, String)> {
    let value = match attachment {
        None => "inline".to_owned(),
        Some("") => "attachment".to_owned(),
        Some(name) => match name.strip_suffix(AnswerStyle::EXTENSION) {
            Some(stem) => disposition::named("attachment", stem, AnswerStyle::EXTENSION),
            None => disposition::named("attachment", name, ""),
        },
    };
    vec![("content-disposition", value)]
}
