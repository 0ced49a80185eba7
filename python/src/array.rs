//! Returns results as NumPy arrays.

use std::sync::atomic::AtomicBool;

use andon_pixels::{Error, Frame, Model, Plane, Result};
use andon_recipe::{Colour, Flatten, FormatName, Kept, Output, Profile, Recipe, Step};
use numpy::PyArray3;
use numpy::ndarray::Array3;
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;

use crate::data::Data;
use crate::error::{exception, parse_recipe};
use crate::given::Given;

/// Returns the result of a recipe as an array of rows, columns and channels, which owns its samples.
#[pyfunction]
pub(crate) fn to_numpy<'py>(
    py: Python<'py>,
    recipe: &str,
    data: Data<'py>,
    channels: Option<usize>,
    given: Given<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    if py.import("numpy").is_err() {
        return Err(PyImportError::new_err(
            "the result is a NumPy array: pip install 'andon[numpy]'",
        ));
    }
    let channels = Channels::new(channels)?;
    let recipe = channels.of(parse_recipe(recipe)?)?;
    let (renderer, timeout) = (given.renderer(py)?, given.timeout()?);
    let source = data.bytes();
    let work = || {
        let stop = AtomicBool::new(false);
        let deadline = timeout.begin(&stop);
        let plan = renderer.plan(&recipe, source)?;
        channels.samples(renderer.run_to_frame(&plan, source, &deadline)?)
    };
    Ok(match py.detach(work).map_err(exception)? {
        Samples::U8(array) => PyArray3::from_owned_array(py, array).into_any(),
        Samples::U16(array) => PyArray3::from_owned_array(py, array).into_any(),
    })
}

/// The channels of the samples in an array.
#[derive(Clone, Copy)]
enum Channels {
    /// The channels of the result: gray or RGB, with alpha if there is any.
    Own,
    Gray,
    Rgb,
    Rgba,
}

/// An array of samples by row, column and channel, with 8 or 16 bits each.
enum Samples {
    U8(Array3<u8>),
    U16(Array3<u16>),
}

impl Channels {
    fn new(count: Option<usize>) -> PyResult<Self> {
        match count {
            None => Ok(Self::Own),
            Some(1) => Ok(Self::Gray),
            Some(3) => Ok(Self::Rgb),
            Some(4) => Ok(Self::Rgba),
            Some(other) => Err(PyValueError::new_err(format!(
                "channels={other}: 1 (gray), 3 (RGB), 4 (RGBA) or None (those of the image)"
            ))),
        }
    }

    /// Adapts a recipe for output as pixels: sRGB unless it asks for another space, one frame, and opaque if the array
    /// has no alpha channel.
    fn of(self, recipe: Recipe) -> PyResult<Recipe> {
        let Recipe { mut steps, output } = recipe;
        if matches!(self, Self::Gray | Self::Rgb)
            && let Some(colour) = output.background.colour()
        {
            steps.push(Step::Flatten(Flatten(Colour { a: 255, ..colour })));
        }
        if matches!(self, Self::Gray) {
            steps.extend(parse_recipe("gray")?.steps);
        }
        let output = Output {
            // The frames that PNG accepts are planes of gray or RGB, with alpha, of 8 or 16 bits.
            format: FormatName::new("png").ok(),
            profile: match output.profile {
                Profile::Unsaid => Profile::Srgb,
                profile => profile,
            },
            frame: output.frame.or(Some(1)),
            depth: output.depth,
            stored_turn: output.stored_turn,
            // An array cannot declare an orientation.
            metadata: Kept::None,
            background: output.background,
            drops_gain_map: true,
            ..Output::default()
        };
        Ok(Recipe { steps, output })
    }

    fn samples(self, frame: Frame) -> Result<Samples> {
        let size = (frame.height as usize, frame.width as usize);
        let colours = match (self, frame.model) {
            (Self::Gray, Model::Gray | Model::Rgb) => &frame.planes[..1],
            (_, Model::Gray | Model::Rgb) => &frame.planes[..],
            (_, other) => {
                let why = format!("an array is made of gray or RGB, not {}", other.name());
                return Err(Error::Internal(why));
            }
        };
        let mut planes: Vec<Option<&Plane>> = colours.iter().map(Some).collect();
        if let (Self::Rgb | Self::Rgba, [gray]) = (self, &*planes) {
            planes = vec![*gray; 3];
        }
        match (self, &frame.alpha) {
            (Self::Own | Self::Rgba, Some(alpha)) => planes.push(Some(alpha)),
            (Self::Rgba, None) => planes.push(None),
            _ => {}
        }
        match frame.planes.first() {
            Some(Plane::U16(_)) => interleaved(size, &planes, u16::MAX, |plane| match plane {
                Plane::U16(grid) => Some(grid.samples()),
                Plane::U8(_) => None,
            })
            .map(Samples::U16),
            _ => interleaved(size, &planes, u8::MAX, |plane| {
                plane.as_u8().map(|grid| grid.samples())
            })
            .map(Samples::U8),
        }
    }
}

/// Interleaves planes into one array. Missing planes are filled with `full`.
fn interleaved<T: Copy>(
    (height, width): (usize, usize),
    planes: &[Option<&Plane>],
    full: T,
    samples: impl Fn(&Plane) -> Option<&[T]>,
) -> Result<Array3<T>> {
    let mut array = vec![full; height * width * planes.len()];
    for (channel, plane) in planes.iter().enumerate() {
        let Some(plane) = plane else {
            continue;
        };
        let mixed = || Error::Internal("planes of one frame differ in depth".to_owned());
        let samples = samples(plane).ok_or_else(mixed)?;
        for (pixel, sample) in array.chunks_exact_mut(planes.len()).zip(samples) {
            pixel[channel] = *sample;
        }
    }
    Array3::from_shape_vec((height, width, planes.len()), array)
        .map_err(|error| Error::Internal(error.to_string()))
}
