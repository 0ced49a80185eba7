//! Effects and geometry stages, one file each.
//!
//! The effects are listed in [`ALL`]: to add one, add a file here (or in `tone`) and a line there. Geometry
//! ([`turn`], [`canvas`]) is not in the list because recipes hold it in typed form, for the planner to reason about.

mod around;
mod backdrop;
mod blend;
mod blur;
mod blur_area;
mod border;
pub mod canvas;
mod cover;
pub mod flatten;
mod gaussian;
mod geometry;
mod gradient;
mod lay;
mod mask;
mod outline;
mod over;
mod overlay;
mod pixelate;
mod place;
pub mod rotate;
mod round;
mod shadow;
mod sharpen;
mod sharpen_l;
pub(crate) mod text;
mod tone;
pub mod turn;
mod unsharp;

use crate::stage::Op;

/// Every effect that a recipe can name.
pub const ALL: &[&dyn Op] = &[
    &unsharp::Unsharp,
    &sharpen::Sharpen,
    &sharpen_l::SharpenL,
    &blur::Blur,
    &blur_area::BlurArea,
    &backdrop::Backdrop,
    &pixelate::Pixelate,
    &border::Border,
    &over::Over,
    &overlay::Overlay,
    &round::Round,
    &mask::Mask,
    &around::Around,
    &shadow::ShadowOp,
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
    &gradient::Gradient,
    &text::TextOp,
];
