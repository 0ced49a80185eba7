//! Images for tests, and the context that a stage expects.

use andon_pixels::color::Convert;
use andon_pixels::ops;
use andon_pixels::{
    Context, Depth, Error, Frame, Grid, Image, Interrupt, Matrix, Model, Never, Plane, Range,
    Result, Stage, Subsampling, Traits,
};
use andon_recipe::{Colour, Effect};

pub(crate) const RED: Colour = Colour {
    r: 255,
    g: 0,
    b: 0,
    a: 255,
};
pub(crate) const BLUE: Colour = Colour {
    r: 0,
    g: 0,
    b: 255,
    a: 255,
};

/// Returns the stage of an effect as written in a recipe; `None` if its arguments change nothing.
pub(crate) fn parse(effect: &str) -> Result<Option<Box<dyn Stage>>> {
    let mut words = effect.split(':').map(str::to_owned);
    let name = words.next().unwrap();
    let op = ops::ALL.iter().find(|op| op.word().name == name).unwrap();
    op.parse(&Effect {
        name,
        args: words.collect(),
    })
}

pub(crate) fn run(stage: &dyn Stage, frame: Frame) -> Frame {
    run_with(stage, frame, &Never, None).unwrap()
}

pub(crate) fn run_with(
    stage: &dyn Stage,
    frame: Frame,
    interrupt: &dyn Interrupt,
    overlay: Option<&Frame>,
) -> Result<Frame> {
    let overlays = |effect: &Effect| match overlay {
        Some(frame) => Ok(Image::still(frame.clone())),
        None => Err(Error::Recipe {
            piece: effect.to_string(),
            why: "missing".to_owned(),
        }),
    };
    let traits = frame.traits();
    let size = stage.size_after(frame.width, frame.height);
    let frame = stage.apply(
        frame,
        &Context {
            overlays: &overlays,
            draw: &|_| Err(Error::Internal("nothing is drawn here".to_owned())),
            interrupt,
            cores: &andon_pixels::Alone,
        },
    )?;
    // The result has the traits that the planner was promised.
    let after = stage.after(traits);
    assert_eq!((frame.width, frame.height), size, "{stage}");
    assert_eq!(frame.model, after.model, "{stage}");
    assert_eq!(frame.depth(), after.depth, "{stage}");
    assert_eq!(frame.alpha.is_some(), after.alpha, "{stage}");
    Ok(frame)
}

/// Creates a plane from a function of position, in 8-bit levels.
pub(crate) fn plane(
    depth: Depth,
    width: u32,
    height: u32,
    value: impl Fn(u32, u32) -> f64,
) -> Plane {
    let unit = if depth == Depth::U8 { 1.0 } else { 257.0 };
    let samples = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let samples = samples.map(|(x, y)| (value(x, y) * unit).round());
    match depth {
        Depth::U8 => {
            let samples = samples.map(|v| v as u8).collect();
            Plane::U8(Grid::from_samples(width, height, samples).unwrap())
        }
        _ => {
            let samples = samples.map(|v| v as u16).collect();
            Plane::U16(Grid::from_samples(width, height, samples).unwrap())
        }
    }
}

/// Creates a frame from a function of plane and position, in 8-bit levels.
pub(crate) fn frame(
    model: Model,
    depth: Depth,
    width: u32,
    height: u32,
    value: impl Fn(usize, u32, u32) -> f64,
) -> Frame {
    let planes = (0..model.planes()).map(|index| {
        let (width, height) = model.plane_size(index, width, height);
        plane(depth, width, height, |x, y| value(index, x, y))
    });
    Frame::new(model, width, height, planes.collect(), None).unwrap()
}

/// Returns a pseudo-random 8-bit level for a plane and position, the same in every run.
pub(crate) fn noise(index: usize, x: u32, y: u32) -> f64 {
    let mut hash = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77) ^ (index as u32) << 9;
    hash = (hash ^ hash >> 15).wrapping_mul(0x2C1B_3C6D);
    hash = (hash ^ hash >> 13).wrapping_mul(0x297A_2D39);
    f64::from((hash ^ hash >> 16) % 256)
}

/// Returns an 8-bit level of slow waves, like the chroma of photos, for a plane and position.
pub(crate) fn waves(index: usize, x: u32, y: u32) -> f64 {
    let phase = index as f64 + f64::from(x) * 0.11 + f64::from(y) * 0.07;
    128.0 + 60.0 * phase.sin() + 40.0 * (f64::from(y) * 0.13 - f64::from(x) * 0.05).cos()
}

/// Returns a sample in 8-bit levels.
pub(crate) fn level(plane: &Plane, x: u32, y: u32) -> f64 {
    match plane {
        Plane::U8(grid) => grid.row(y)[x as usize].into(),
        Plane::U16(grid) => f64::from(grid.row(y)[x as usize]) / 257.0,
    }
}

/// Returns the greatest difference of two planes in 8-bit levels.
pub(crate) fn difference(a: &Plane, b: &Plane) -> f64 {
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let mut greatest = 0.0_f64;
    for y in 0..a.height() {
        for x in 0..a.width() {
            greatest = greatest.max((level(a, x, y) - level(b, x, y)).abs());
        }
    }
    greatest
}

/// Returns the greatest difference of two frames in any plane, alpha included, in 8-bit levels.
pub(crate) fn frames_differ(a: &Frame, b: &Frame) -> f64 {
    let pairs = a
        .planes
        .iter()
        .zip(&b.planes)
        .chain(a.alpha.iter().zip(&b.alpha));
    pairs.map(|(a, b)| difference(a, b)).fold(0.0, f64::max)
}

pub(crate) fn c420() -> Model {
    Model::ycbcr(Subsampling::C420)
}

/// Returns WebP's variant of 4:2:0, with limited range.
pub(crate) fn limited() -> Model {
    Model::YCbCr {
        sub: Subsampling::C420,
        range: Range::Limited,
        matrix: Matrix::Bt601,
    }
}

/// Converts a frame to red, green and blue.
pub(crate) fn as_rgb(frame: &Frame) -> Frame {
    let to = Traits {
        model: Model::Rgb,
        ..frame.traits()
    };
    let from = frame.colour.space;
    run(&Convert { to, from }, frame.clone())
}

/// Creates a frame of one colour.
pub(crate) fn flat(model: Model, depth: Depth, width: u32, height: u32, colour: Colour) -> Frame {
    let samples = andon_pixels::color::sample(colour, model, depth);
    let planes = (0..model.planes()).map(|index| {
        let (width, height) = model.plane_size(index, width, height);
        Plane::filled(depth, width, height, samples[index])
    });
    Frame::new(model, width, height, planes.collect(), None).unwrap()
}
