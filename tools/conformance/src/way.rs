//! Two ways to obtain the images that are judged: from the decoders, or from a server.

use std::fmt;

use andon_pixels::Error;
use serde_json::Value;

use crate::frames::Moving;
use crate::judge::Judged;
use crate::rgba::Rgba;
use crate::rows::Row;

/// A way to obtain images: from the decoders directly, or through requests to a server.
pub(crate) trait Way {
    /// Returns the image in the form of the row's answer: in the file's own colour space and, unless
    /// [`Row::is_upright`], with the orientation in which it is stored.
    fn still(&self, row: &Row) -> Result<Rgba, Miss>;

    /// Returns all frames in the file's own colour space.
    fn moving(&self) -> Result<Moving, Miss>;

    /// Returns the file that a recipe produces.
    fn rendered(&self, recipe: &str) -> Result<Vec<u8>, Miss>;

    /// Returns whether text is drawn with the fonts of the conformance set.
    fn has_fonts(&self) -> bool;

    /// Returns whether decoded planes are available.
    fn has_planes(&self) -> bool {
        false
    }

    /// Compares the planes of AV1 with those in the expected answer. Returns `Ok(false)` if they cannot be compared,
    /// because the codec has converted them.
    fn planes(&self, row: &Row, answer: &Value) -> Result<bool, Miss> {
        let _ = (row, answer);
        Ok(false)
    }

    /// Judges what else a server can return for the file, such as smaller and re-encoded images. The frames `output`
    /// are known to be correct. Decoders alone have nothing more to judge.
    fn beside(&self, row: &Row, output: &[Rgba]) -> Judged {
        let _ = (row, output);
        Ok(())
    }
}

/// The reason why an image is missing or wrong.
#[derive(Debug)]
pub(crate) enum Miss {
    /// The file was refused, and the fault is the client's or the file's. A server responds with 413 or 422.
    Refused(String),
    /// The file was refused because it is not supported. A server responds with 415.
    Unsupported(String),
    /// The image is missing or wrong by a fault of Andon, for this reason.
    Wrong(String),
}

impl From<String> for Miss {
    fn from(why: String) -> Self {
        Self::Wrong(why)
    }
}

impl From<Error> for Miss {
    fn from(error: Error) -> Self {
        let why = error.to_string();
        match error {
            Error::Unsupported { .. } => Self::Unsupported(why),
            Error::Interrupted | Error::Crashed { .. } | Error::Internal(_) => Self::Wrong(why),
            _ => Self::Refused(why),
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(why) | Self::Unsupported(why) | Self::Wrong(why)) = self;
        f.write_str(why)
    }
}
