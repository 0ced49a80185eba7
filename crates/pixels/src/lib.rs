//! The planar pixel engine.
//!
//! An image consists of planes ([`Frame`]) in the colour model of its file. Every stage works plane by plane, so that a
//! JPEG becomes a smaller JPEG without a conversion to RGB. [`Engine`] turns a recipe and an image's header into a
//! [`Plan`] that prints itself with its cost and peak memory, and then runs it. The crate depends on no image format:
//! codecs are passed as `&dyn Codec`. It opens no file, starts no thread, and checks [`Interrupt`] between bands of
//! rows to find out whether the result is still wanted.
//!
//! Frames are made of planes, and stages turn one frame into another. Codecs and recipes are in crates of their own.
//!
//! ```
//! use andon_pixels::{Depth, Frame, Grid, Model, Plane};
//! # fn main() -> andon_pixels::Result<()> {
//! let samples = Grid::from_samples(2, 2, vec![0_u8, 80, 160, 240])?;
//! let frame = Frame::new(Model::Gray, 2, 2, vec![Plane::U8(samples)], None)?;
//! assert_eq!((frame.width, frame.height, frame.depth()), (2, 2, Depth::U8));
//! assert_eq!(frame.traits().model.planes(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change how a gain map follows its image, and what makes it invalid | `crates/pixels/src/plan/gain.rs`, `Stage::on_gain_map`; its parameters in files: `crates/codecs/src/gain_map/`, `jpeg/gain_map.rs` |
//! | find out why a plan was chosen | `andon explain URL`, then the files of the rules that it names, in `crates/pixels/src/plan/rules/` |
//! | make resampling or JPEG decoding faster | `crates/kernels/` and its `notes/`, `crates/pixels/src/resize/`, `crates/jpeg/src/decode/`; then `./dev bench resize`, `./dev bench jpeg` |
//! | change the memory that several results of one decode take | `crates/pixels/src/plan/shared_peak.rs` |

#![forbid(unsafe_code)]

pub mod codec;
pub mod color;
mod cost;
pub mod engine;
pub mod error;
mod formats;
pub mod frame;
pub mod limits;
mod measure;
pub mod ops;
pub mod plan;
mod profiles;
pub mod resize;
mod revision;
mod samples;
mod score;
pub mod sequence;
pub mod space;
pub mod stage;
mod window;

pub use andon_kernels::cores::{Alone, Cores, Task};
pub use andon_kernels::{buffers, cores};
pub use codec::{
    Align, Anchor, AnimationDecoder, AnimationEncoder, Breaks, Codec, Cut, Decode, Drawings, Drawn,
    Encode, Encoder, Format, GainHeader, GainMaps, Info, Isolation, ManyScales, Orientation,
    Outline, Overflow, Parts, Recoder, Room, Scale, Scales, Tags, Text, Vector, Web, Writing,
};
pub use color::profile_of_gamma;
pub use cost::{Cost, CpuTime};
pub use engine::{Decoded, Engine, Rendered, Run, Timings};
pub use error::{Error, Result};
pub use frame::{
    Depth, Frame, GainMap, GainParams, Grid, Image, Metadata, Model, Plane, Subsampling, Traits,
};
pub use limits::{Bound, BoundOn, Damaged, Interrupt, Limits, Never, STACK};
pub use measure::Measurement;
pub use plan::{DecodeKey, Holding, Index, Plan, RULES, Rule, SharedPeak};
pub use profiles::{block_of_orientation, orientation_of};
pub use revision::{REVISION, revision};
pub use sequence::{Animation, Delay, FrameReader, FrameWriter, Head, Timed};
pub use space::{Colour, Icc, Matrix, Primaries, Range, Space, Transfer};
pub use stage::{Context, NoOverlays, OnGainMap, Op, OverlaySource, Stage};
pub use window::{RegionF, Window};
