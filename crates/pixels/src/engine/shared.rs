//! Decodes a file once for several results.

use std::time::{Duration, Instant};

use super::{Decoded, Engine};
use crate::codec::{Decode, Scales};
use crate::cores::Cores;
use crate::error::Result;
use crate::frame::{Image, Metadata};
use crate::limits::Interrupt;
use crate::plan::{Pipeline, Plan};

impl Engine {
    /// Decodes the images that several plans for the same file start from, in one pass over the file: for each plan, in
    /// order, exactly what it would have decoded alone, so that results do not depend on which plans are combined.
    /// Returns `None` where the codec cannot do that, for vector drawings, and for a copy, which decodes nothing.
    ///
    /// # Errors
    /// Any error of decoding the image. A damaged file may fail even if some of the plans would succeed alone.
    pub fn decode_at_once(
        &self,
        cores: &dyn Cores,
        plans: &[&Plan],
        bytes: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<Decoded>>> {
        let pipelines: Option<Vec<&Pipeline>> = plans.iter().map(|plan| plan.pipeline()).collect();
        let (Some(pipelines), Some(first)) = (pipelines, plans.first()) else {
            return Ok(None);
        };
        let Some(source) = pipelines.first().map(|pipeline| pipeline.source) else {
            return Ok(None);
        };
        if pipelines.iter().any(|pipeline| pipeline.drawing.is_some()) {
            return Ok(None);
        }
        let mut scales: Vec<Scales> = Vec::new();
        for pipeline in &pipelines {
            if !scales.contains(&pipeline.scales) {
                scales.push(pipeline.scales);
            }
        }
        let how = Decode {
            scales: scales[0],
            limits: &self.formats.limits,
            interrupt,
            cores,
            keep_metadata: pipelines.iter().any(|pipeline| pipeline.reads_metadata()),
        };
        let began = Instant::now();
        let (images, damaged) = match &*scales {
            [_] => {
                let (image, damaged) = self.decode_or_salvage(source, bytes, first.info(), &how)?;
                (Some(vec![image]), damaged)
            }
            several => {
                let images = match source.many_scales() {
                    Some(decoder) => decoder.decode_at_once(bytes, first.info(), &how, several)?,
                    None => None,
                };
                (images, false)
            }
        };
        let time = began.elapsed();
        Ok(images.and_then(|images| deal(images, &scales, &pipelines, (time, damaged))))
    }
}

/// Returns the image that each pipeline starts from, at its scales; pipelines with the same scales share samples. Only
/// pipelines that would have read the profiles get them.
fn deal(
    images: Vec<Image>,
    scales: &[Scales],
    pipelines: &[&Pipeline],
    (time, damaged): (Duration, bool),
) -> Option<Vec<Decoded>> {
    let mut images: Vec<_> = images.into_iter().map(Some).collect();
    let hand_out = |(index, pipeline): (usize, &&Pipeline)| {
        let place = scales
            .iter()
            .position(|candidate| *candidate == pipeline.scales)?;
        let mut later = pipelines[index + 1..].iter();
        let is_shared = later.any(|later| later.scales == pipeline.scales);
        let slot = images.get_mut(place)?;
        let mut image = if is_shared { slot.clone() } else { slot.take() }?;
        if !pipeline.reads_metadata() {
            image.metadata = Metadata::default();
            image.frame.colour.icc = None;
        }
        Some(Decoded {
            image,
            damaged,
            time,
        })
    };
    pipelines.iter().enumerate().map(hand_out).collect()
}
