//! The error style of the Next.js dialect, whose bodies are short plain texts.

use crate::errors::{Errors, Fault, Told};

/// Error style for a source at another host.
pub(super) static UPSTREAM: NextErrors = NextErrors { place: "upstream" };

/// Error style for a source at a path.
pub(super) static INTERNAL: NextErrors = NextErrors { place: "internal" };

/// An error style of Next.js. `place` is its word for where the source is.
#[derive(Debug)]
pub(super) struct NextErrors {
    place: &'static str,
}

impl Errors for NextErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Url | Fault::Source | Fault::NotImage | Fault::Damaged | Fault::Unsupported => {
                400
            }
            Fault::Missing => 404,
            Fault::Limit => 413,
            Fault::Late => 504,
            Fault::Origin => 500,
            _ => default,
        }
    }

    fn of_origin(&self, answered: u16, _: Fault, _: u16) -> u16 {
        answered
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let place = self.place;
        let valid = |what: &str| format!("\"url\" parameter is valid but {what}");
        let text = match error.fault {
            Fault::Source => "\"url\" parameter is not allowed".to_owned(),
            Fault::NotImage | Fault::Damaged => {
                "The requested resource isn't a valid image.".to_owned()
            }
            Fault::Unsupported => valid("image type is not allowed"),
            Fault::Missing | Fault::Origin | Fault::Limit => {
                valid(&format!("{place} response is invalid"))
            }
            Fault::Late => valid("upstream response timed out"),
            _ => error.sentence.to_owned(),
        };
        Some(("text/plain; charset=utf-8", text))
    }
}
