//! What all animated formats share: the canvas that frames are composed on, the part of it that changes from one frame
//! to the next, and delays in another time unit.

mod canvas;
mod change;
mod clock;
mod pace;

pub(crate) use canvas::{Blend, Canvas, Disposal, Part, Place};
pub(crate) use change::{crop_frame, find_change};
pub(crate) use clock::Clock;
pub(crate) use pace::{Pace, Turn};
