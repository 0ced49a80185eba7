//! Calls to worker processes, and the limits of each job.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use andon_pixels::{
    Codec, Cost, Decode, Error, Info, Interrupt, Isolation, Limits, Result, Scales, Traits, Window,
};

use crate::job::{Call, How, Job, Kind};
use crate::pool::{Lease, Pool, Question};
use crate::wire::{Output, Wire};

/// The connection of one codec to the pool of worker processes.
#[derive(Clone, Copy)]
pub(super) struct Workers {
    pub(super) codec: &'static dyn Codec,
    pub(super) pool: &'static Pool,
    /// The operations of the codec that run in worker processes.
    pub(super) isolation: Isolation,
}

/// The limits of a job, and its estimated cost.
#[derive(Clone, Copy)]
pub(super) struct Ceiling<'a> {
    pub(super) limits: &'a Limits,
    pub(super) cost: Cost,
    /// Maximum total size in bytes of the images that are sent to the worker or returned by it.
    pub(super) images: u64,
}

/// Time limit for reading a header.
pub(super) const PROBE: Duration = Duration::from_secs(1);

/// Factor by which a job may exceed its estimated processor time. `./dev bench plans` measures by how much requests
/// exceed their estimates.
const SAFETY: u64 = 8;

/// Seconds of processor time that every job may use in addition to its estimated time.
const LEAST_SECONDS: u64 = 2;

/// Limit in seconds of processor time for writing an animation, whose number of frames is not known in advance.
pub(super) const WRITING: u64 = 600;

/// Maximum bytes of image properties and metadata in an answer, in addition to the pixels.
pub(super) const FACTS: u64 = 64 << 20;

impl Workers {
    pub(super) fn read<T: Wire>(
        &self,
        bytes: &[u8],
        ceiling: Ceiling<'_>,
        call: Call,
        interrupt: &dyn Interrupt,
    ) -> Result<T> {
        let header = matches!(call, Call::Probe);
        self.refuse_suspects(bytes)?;
        let job = self.job(bytes, ceiling, call);
        let mut lease = Lease::new(self.pool, header, interrupt)?;
        lease.ask(&Question {
            kind: Kind::Job,
            message: Output::of(&job),
            most: ceiling.images.saturating_add(FACTS),
            format: self.codec.name(),
            file: bytes,
            interrupt,
        })
    }

    pub(super) fn refuse_suspects(&self, bytes: &[u8]) -> Result<()> {
        match self.pool.suspects.refuses(bytes) {
            true => Err(Error::Suspect {
                format: self.codec.name(),
            }),
            false => Ok(()),
        }
    }

    pub(super) fn job<'a>(&self, bytes: &'a [u8], ceiling: Ceiling<'_>, call: Call) -> Job<'a> {
        let source = bytes.len() as u64;
        let plan_bytes = (ceiling.cost.scratch)
            .saturating_add(ceiling.images)
            .saturating_add(source);
        Job {
            format: self.codec.name().to_owned(),
            limits: *ceiling.limits,
            memory: plan_bytes
                .saturating_add(plan_bytes / 2)
                .saturating_add(source),
            seconds: (ceiling.cost.nanos / 1_000_000_000)
                .saturating_mul(SAFETY)
                .saturating_add(LEAST_SECONDS),
            bytes: Cow::Borrowed(bytes),
            call,
        }
    }

    /// Returns the limits of a job that decodes an image at the scales in `how`.
    pub(super) fn decode_ceiling<'a>(
        &self,
        bytes: &[u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Ceiling<'a> {
        Ceiling {
            limits: how.limits,
            cost: self.codec.decode_cost(bytes.len() as u64, info, how.scales),
            images: self.decoded_bytes(info, how.scales),
        }
    }

    /// Returns the size in bytes of a frame that is decoded at these scales.
    pub(super) fn decoded_bytes(&self, info: &Info, scales: Scales) -> u64 {
        let traits = self.codec.decoded(info, scales);
        let (width, height) = info.scaled(scales.luma);
        bytes_of(width, height, traits)
    }

    /// Returns the size in bytes of the image that results from drawing a window: a part of a vector image, at a given
    /// size.
    pub(super) fn drawn_bytes(&self, info: &Info, window: &Window) -> u64 {
        let traits = self.codec.decoded(info, Scales::FULL);
        bytes_of(window.to.0, window.to.1, traits)
    }

    /// Adds the memory that only a worker process needs to a cost: a copy of the file (`bytes`), and the image (`image`
    /// bytes) before it is sent.
    pub(super) fn with_worker_memory(&self, cost: Cost, bytes: u64, image: u64) -> Cost {
        match self.isolation.reads {
            true => cost.and_scratch(bytes.saturating_add(image)),
            false => cost,
        }
    }
}

impl<'a> Ceiling<'a> {
    /// Creates the limits of a job whose images may take all of `limits.memory`.
    pub(super) fn of_memory_limit(limits: &'a Limits, cost: Cost) -> Self {
        Self {
            limits,
            cost,
            images: limits.memory,
        }
    }
}

/// Returns the size in bytes of a frame of this size in px with these traits.
pub(super) fn bytes_of(width: u32, height: u32, traits: Traits) -> u64 {
    let plane = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
    let colours: u64 = (0..traits.model.planes())
        .map(|index| plane(traits.model.plane_size(index, width, height)))
        .sum();
    let alpha = if traits.alpha {
        plane((width, height))
    } else {
        0
    };
    (colours + alpha) * traits.depth.bytes() as u64
}

pub(super) fn how(decode: &Decode<'_>) -> How {
    How {
        scales: decode.scales,
        keep_metadata: decode.keep_metadata,
    }
}

/// An interrupt that fires at a given time, which is the deadline of a job.
pub(super) struct Deadline(pub(super) Instant);

impl Interrupt for Deadline {
    fn interrupted(&self) -> bool {
        Instant::now() >= self.0
    }
}
