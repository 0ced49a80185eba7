//! Divides an image into bands, which idle cores transform in parallel with the current one.

use std::ops::Range;
use std::sync::Arc;

use andon_kernels::cores::shared;
use andon_kernels::fdct::Quantiser;

use crate::encode::blocks::Blocks;
use crate::encode::huffman::Counts;
use crate::encode::options::Options;
use crate::encode::scan::{Band, Component};
use crate::encode::{activity, steps};
use crate::error::Result;
use crate::image::{Plane, Subsampling};
use crate::tables::Table as Steps;

/// A band of the image and, for luma and then for chroma, how often each symbol of AC coefficients occurs in it.
pub(super) type CountedBand = (Band, Vec<Counts>);

/// The planes and settings from which bands are made.
pub(super) struct Parts<S> {
    /// The planes, luma first.
    planes: Vec<Plane<S>>,
    components: Vec<Component>,
    /// The quantiser of luma and that of chroma, at the index that [`Component::class`] gives.
    quantisers: Vec<Quantiser>,
}

impl<S: AsRef<[u8]> + Send + Sync + 'static> Parts<S> {
    /// Prepares planes to be written with these quantisation tables, of luma and of chroma.
    pub(super) fn new(planes: Vec<Plane<S>>, sub: Subsampling, steps: &[Steps; 2]) -> Self {
        let component = |n| Component {
            h: if n == 0 { sub.h.into() } else { 1 },
            v: if n == 0 { sub.v.into() } else { 1 },
            // Luma has its own tables. The other components share theirs.
            class: usize::from(n > 0),
        };
        let dead_zones = [&steps::LUMA, &steps::CHROMA];
        let quantisers = steps.iter().zip(dead_zones);
        Self {
            components: (0..planes.len()).map(component).collect(),
            quantisers: quantisers
                .map(|(steps, dead_zone)| steps::quantiser(steps, dead_zone))
                .collect(),
            planes,
        }
    }

    /// Returns the number of rows of MCUs.
    fn rows(&self) -> usize {
        let blocks = self.planes[0].height.div_ceil(8) as usize;
        blocks.div_ceil(self.components[0].v)
    }

    /// Transforms these rows of MCUs.
    fn band(&self, rows: Range<usize>, interrupted: &dyn Fn() -> bool) -> Result<CountedBand> {
        let mut rest = vec![Counts::new(); self.planes.len().min(2)];
        let mut band = Vec::with_capacity(self.planes.len());
        for (n, (plane, component)) in self.planes.iter().zip(&self.components).enumerate() {
            let high = plane.height.div_ceil(8) as usize;
            let within = |row: usize| (row * component.v).min(high);
            let rows = within(rows.start)..within(rows.end);
            let strengths = (n == 0).then(|| activity::strengths(plane.view(), &rows));
            band.push(Blocks::of(
                plane.view(),
                rows,
                &self.quantisers[component.class],
                strengths.as_deref(),
                &mut rest[component.class],
                interrupted,
            )?);
        }
        Ok((band, rest))
    }

    /// Transforms the whole image on this core and idle ones. Returns the components, and each band with its counts.
    pub(super) fn bands(self, options: &Options<'_>) -> Result<(Vec<Component>, Vec<CountedBand>)> {
        let rows = self.rows();
        let luma = &self.planes[0];
        let pixels = u64::from(luma.width) * u64::from(luma.height);
        let count = usize::try_from(pixels / PIXELS_OF_BAND)
            .unwrap_or(0)
            .min(rows);
        let components = self.components.clone();
        let parts = Arc::new(self);
        let shared_bands = {
            let parts = parts.clone();
            shared(options.cores, options.interrupted, count, move |band| {
                let border = |band: usize| band * rows / count;
                parts.band(border(band)..border(band + 1), &|| false)
            })
        };
        let bands = match shared_bands {
            Some(bands) => bands?.into_iter().collect::<Result<_>>()?,
            None => vec![parts.band(0..rows, options.interrupted)?],
        };
        Ok((components, bands))
    }
}

/// Number of pixels in the band that a core takes at a time: about a quarter of a millisecond of work.
const PIXELS_OF_BAND: u64 = 64 << 10;
