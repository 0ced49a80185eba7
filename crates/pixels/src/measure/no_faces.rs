//! Stand-in for face detection in builds without the cargo feature `faces`: every search fails with an error that says
//! so.

use andon_recipe::{Area, Orientation};

use super::Analysis;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::limits::Interrupt;

pub(super) struct Faces;

pub(super) fn can_be_found() -> Result<()> {
    Err(Error::Recipe {
        piece: "faces".to_owned(),
        why: "this build of Andon cannot look for faces; it needs the cargo feature `faces`"
            .to_owned(),
    })
}

pub(super) fn cost(_: u32, _: u32) -> Cost {
    Cost::default()
}

impl Faces {
    pub(super) fn upright(_: Orientation) -> Self {
        Self
    }
}

impl Analysis for Faces {
    fn look(&mut self, _: &Frame, _: &dyn Interrupt) -> Result<()> {
        can_be_found()
    }

    fn areas(&self) -> Option<Vec<Area>> {
        None
    }
}
