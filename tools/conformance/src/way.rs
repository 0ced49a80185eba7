//! How the images of a row are come by.

use std::fmt;

use andon_pixels::{Error, Fault};
use serde_json::Value;

use crate::frames::Moving;
use crate::judge::Judged;
use crate::rgba::Rgba;
use crate::rows::Row;

/// By the decoders themselves, or by asking a server.
pub(crate) trait Way {
    /// The image as the row's answer has it: in the file's own numbers and, unless [`Row::is_upright`], as it is stored.
    fn still(&self, row: &Row) -> Result<Rgba, Miss>;

    /// All frames, likewise.
    fn moving(&self) -> Result<Moving, Miss>;

    /// The file that a recipe makes.
    fn rendered(&self, recipe: &str) -> Result<Vec<u8>, Miss>;

    /// Are letters drawn with the set's fonts?
    fn has_fonts(&self) -> bool;

    /// Can planes be seen?
    fn has_planes(&self) -> bool {
        false
    }

    /// Are the planes of AV1 the row's? False: the codec has made others of them.
    fn planes(&self, row: &Row, answer: &Value) -> Result<bool, Miss> {
        let _ = (row, answer);
        Ok(false)
    }

    /// Whatever else can be asked of a file whose frames have been found right.
    fn beside(&self, row: &Row, own: &[Rgba]) -> Judged {
        let _ = (row, own);
        Ok(())
    }
}

/// Why there is no image, or another.
#[derive(Debug)]
pub(crate) enum Miss {
    /// The file was refused as the client's or its own fault: a 4xx.
    Refused(String),
    /// The file was refused because it is not supported: 415.
    Unsupported(String),
    /// A fault of ours.
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
            Error::Interrupted => Self::Wrong(why),
            _ if error.fault() == Fault::Us => Self::Wrong(why),
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
