//! Iteration over a scan: its size in MCUs, its restart intervals, and positions between its MCUs.

use crate::error::{Error, Result};
use std::sync::Arc;

use crate::decode::bits::Bits;
use crate::decode::entropy::Unstuffed;
use crate::decode::plane::PlaneDecoder;
use crate::decode::segments::{FrameHeader, ScanHeader, Tables};

/// Returns how many MCUs a scan has across and down.
pub(super) fn mcus(frame: &FrameHeader, scan: &ScanHeader, planes: &[PlaneDecoder]) -> (u32, u32) {
    match scan.components[..] {
        [component] => (
            planes[component.index].blocks_wide,
            planes[component.index].blocks_high,
        ),
        _ => (
            frame.width.div_ceil(8 * frame.h_max),
            frame.height.div_ceil(8 * frame.v_max),
        ),
    }
}

/// A scan of a sequential image, with the tables that apply to it.
pub(super) struct Scan<'a> {
    pub(super) data: Arc<Unstuffed>,
    pub(super) tables: &'a Tables,
    pub(super) frame: &'a FrameHeader,
    pub(super) header: &'a ScanHeader,
    /// MCUs across and down.
    pub(super) size: (u32, u32),
    /// Number of samples that the scan's components have at full size.
    pub(super) samples: usize,
}

impl<'a> Scan<'a> {
    /// Creates the scan of these unstuffed data.
    pub(super) fn new(
        data: Arc<Unstuffed>,
        tables: &'a Tables,
        frame: &'a FrameHeader,
        header: &'a ScanHeader,
        planes: &[PlaneDecoder],
    ) -> Self {
        let (across, down) = mcus(frame, header, planes);
        let blocks = match header.components[..] {
            [_] => 1,
            _ => (header.components.iter())
                .map(|one| planes[one.index].h as usize * planes[one.index].v as usize)
                .sum(),
        };
        Self {
            data,
            tables,
            frame,
            header,
            size: (across, down),
            samples: blocks * 64 * across as usize * down as usize,
        }
    }
}

/// Cursor over the restart intervals of a scan, in order.
pub(super) struct Intervals<'a> {
    data: &'a Unstuffed,
    /// MCUs per interval; `u32::MAX` without restart markers.
    length: u32,
    left: u32,
    next: usize,
}

impl<'a> Intervals<'a> {
    /// Creates a cursor before the first interval, with `restart` MCUs per interval, or 0 without restart markers.
    pub(super) fn new(data: &'a Unstuffed, restart: u32) -> Self {
        let length = if restart == 0 { u32::MAX } else { restart };
        Self {
            data,
            length,
            left: 0,
            next: 0,
        }
    }

    /// Returns the position of the next MCU. `bits` must stand where the last MCU ended.
    pub(super) fn position(&self, bits: &Bits<'_>) -> Position {
        Position {
            bit: bits.consumed(),
            next: self.next,
            left: self.left,
        }
    }

    /// Creates a cursor that ignores restart markers: all MCUs belong to one interval, which has already begun.
    pub(super) fn endless(data: &'a Unstuffed) -> Self {
        Self::inside(data, 0, u32::MAX)
    }

    /// Creates a cursor inside the first restart interval, of which `left` MCUs remain.
    pub(super) fn inside(data: &'a Unstuffed, restart: u32, left: u32) -> Self {
        Self {
            left,
            next: 1,
            ..Self::new(data, restart)
        }
    }

    /// Advances to the next MCU, and must be called before each one. Returns `true` at the beginning of a restart
    /// interval: `bits` has been moved there, and all DC predictions must be reset.
    #[inline(always)]
    pub(super) fn begin_mcu(&mut self, bits: &mut Bits<'a>) -> Result<bool> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(false);
        }
        *bits = self.begin_interval(*bits)?;
        Ok(true)
    }

    #[cold]
    fn begin_interval(&mut self, bits: Bits<'a>) -> Result<Bits<'a>> {
        check(&bits)?;
        let interval = self.data.reader(self.next).ok_or(ENDS_EARLY)?;
        self.next += 1;
        self.left = self.length - 1;
        Ok(interval)
    }
}

/// A place between two MCUs of a scan.
#[derive(Clone, Copy, Default)]
pub(super) struct Position {
    bit: u64,
    /// Index of the next restart interval.
    next: usize,
    /// Number of MCUs that remain of the current restart interval.
    left: u32,
}

impl Position {
    /// Returns readers that continue at this position in `data`, with `restart` MCUs per restart interval.
    pub(super) fn reader(
        self,
        data: &Unstuffed,
        restart: u32,
    ) -> Result<(Intervals<'_>, Bits<'_>)> {
        let intervals = Intervals {
            left: self.left,
            next: self.next,
            ..Intervals::new(data, restart)
        };
        let bits = match self.next.checked_sub(1) {
            Some(interval) => data.reader_within(interval, self.bit).ok_or(ENDS_EARLY)?,
            None => Bits::new(&[]),
        };
        Ok((intervals, bits))
    }
}

/// Fails if more bits were read than the data held.
pub(super) fn check(bits: &Bits<'_>) -> Result<()> {
    if bits.overrun() {
        Err(ENDS_EARLY)
    } else {
        Ok(())
    }
}

/// The error of a scan with fewer data than its MCUs take.
pub(super) const ENDS_EARLY: Error =
    Error::Broken("its entropy-coded data end early, or out of order");
