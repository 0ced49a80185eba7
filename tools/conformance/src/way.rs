//! The ways in which the images of a row are obtained.

use std::fmt;

use andon_pixels::Error;
use serde_json::Value;

use crate::frames::Moving;
use crate::judge::Judged;
use crate::rgba::Rgba;
use crate::rows::Row;

/// A way to obtain images: from the decoders directly, or by asking a server.
pub(crate) trait Way {
    /// Returns the image as in the row's answer: in the file's own colour space and, unless [`Row::is_upright`], as it
    /// is stored.
    fn still(&self, row: &Row) -> Result<Rgba, Miss>;

    /// Returns all frames in the file's own colour space.
    fn moving(&self) -> Result<Moving, Miss>;

    /// Returns the file that a recipe makes.
    fn rendered(&self, recipe: &str) -> Result<Vec<u8>, Miss>;

    /// Returns whether text is drawn with the set's fonts.
    fn has_fonts(&self) -> bool;

    /// Returns whether decoded planes are available.
    fn has_planes(&self) -> bool {
        false
    }

    /// Compares the planes of AV1 with those in the answer. `Ok(false)` means that they cannot be compared, because the
    /// codec has converted them.
    fn planes(&self, row: &Row, answer: &Value) -> Result<bool, Miss> {
        let _ = (row, answer);
        Ok(false)
    }

    /// Judges everything else that can be requested of a file, once its frames are known to be right.
    fn beside(&self, row: &Row, own: &[Rgba]) -> Judged {
        let _ = (row, own);
        Ok(())
    }
}

/// The reason why there is no image, or a wrong one.
#[derive(Debug)]
pub(crate) enum Miss {
    /// The file was refused as the fault of the client or of the file itself. A server answers 413 or 422.
    Refused(String),
    /// The file was refused because it is not supported. A server answers 415.
    Unsupported(String),
    /// A fault of Andon itself.
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
