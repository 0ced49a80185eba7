//! Effects and geometry, one file each.
//!
//! Effects are the words of [`ALL`]: a new one is a file here (or in [`tone`]) and a line there. Geometry ([`turn`],
//! [`canvas`]) is not in the list because recipes hold it in a typed form that the planner reasons about.

mod blur;
mod border;
pub mod canvas;
pub mod flatten;
mod gaussian;
mod geometry;
mod lay;
mod over;
pub mod rotate;
mod sharpen;
mod tone;
pub mod turn;
mod unsharp;

use crate::stage::Op;

/// Every effect that a recipe can name.
pub const ALL: &[&dyn Op] = &[
    &unsharp::Unsharp,
    &sharpen::Sharpen,
    &blur::Blur,
    &border::Border,
    &over::Over,
    &tone::GRAY,
    &tone::BITONAL,
    &tone::INVERT,
    &tone::BRIGHTNESS,
    &tone::CONTRAST,
    &tone::GAMMA,
    &tone::RGB,
    &tone::SATURATION,
    &tone::HUE,
    &tone::MODULATE,
    &tone::TINT,
    &tone::SEPIA,
    &tone::DUOTONE,
    &tone::COLORIZE,
];
