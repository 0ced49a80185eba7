//! Finds frontal faces in gray images. It detects faces, but does not recognise persons.
//!
//! The method is the funnel-structured cascade of Wu, Kan, He, Shan and Chen (*Funnel-structured cascade for multi-view
//! face detection with alignment awareness*, 2016), with the model that its authors published as SeetaFace. `model/`
//! holds that model as distributed with the crate `rustface` 0.1.7, with its licence (BSD-2-Clause).
//!
//! This is a new implementation without `unsafe` that finds the same faces. `rustface`, last published in 2021, copies
//! windows through unchecked pointers to positions that depend on the pixels, and cannot be interrupted. Here the
//! number of windows of each stage is limited, and so is the time.
//!
//! Windows of 40 × 40 px at every scale pass three boosted cascades of binary patterns (`proposals`); the remaining
//! windows pass three small networks over gradients (`network`), each of which moves the window. Overlapping windows
//! are merged into one, and their scores are added (`windows`).
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change how faces are found | `crates/faces/` (the detector), `crates/pixels/src/measure/faces.rs` (what it sees), `crates/recipe/src/resolve/faces.rs` (what crops and blurs make of it) |

#![forbid(unsafe_code)]

mod gradients;
mod image;
mod model;
mod network;
mod pattern;
mod proposals;
mod windows;

pub use image::Gray;
use model::Model;
use windows::{Window, strongest};

/// Side in px of the smallest windows that are searched for faces.
pub const LEAST: u32 = 40;

/// Version of the detector. It is increased whenever a change affects which faces are found.
pub const REVISION: u32 = 1;

/// A face, as a square from the forehead to the chin, in px of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// X coordinate of the face's left edge, in px. The edge may lie outside the image.
    pub x: i32,
    /// Y coordinate of the face's top edge, in px. The edge may lie outside the image.
    pub y: i32,
    /// Width and height in px.
    pub side: u32,
    /// Confidence: roughly the number of windows that agree on the face.
    pub score: f32,
}

/// Minimum score of a face. Windows with a lower score seldom show a face.
const CERTAIN: f32 = 2.0;

/// Overlap of two windows, as a share of their union, above which they are merged: after each of the cascades of
/// classifiers, and between two neural networks of the same stage.
const SAME_WINDOW: f64 = 0.8;

/// Overlap of two windows, as a share of their union, above which they count as the same face after the last stage of
/// neural networks.
const SAME_FACE: f64 = 0.3;

/// Finds the faces in an image, the most certain first. Calls `is_wanted` repeatedly, and returns `None` as soon as it
/// returns `false`.
#[must_use]
pub fn find(image: Gray<'_>, is_wanted: &dyn Fn() -> bool) -> Option<Vec<Face>> {
    let Some(model) = Model::bundled() else {
        return Some(Vec::new());
    };
    let mut windows: Vec<Window> = Vec::new();
    for candidates in proposals::of(image, &model.cascades, is_wanted)? {
        windows.extend(strongest(candidates, SAME_WINDOW));
    }
    let last = model.stages.len().saturating_sub(1);
    for (at, stage) in model.stages.iter().enumerate() {
        for (index, network) in stage.iter().enumerate() {
            if index > 0 {
                windows = strongest(windows, SAME_WINDOW);
            }
            windows = network.refine(image, &windows, is_wanted)?;
        }
        if at == last {
            windows = strongest(windows, SAME_FACE);
        }
    }
    let mut faces: Vec<Face> = windows.iter().filter_map(Window::face).collect();
    faces.retain(|face| face.score >= CERTAIN);
    faces.sort_by(|one, other| other.score.total_cmp(&one.score));
    Some(faces)
}

#[cfg(test)]
mod tests;
