//! The cost of a piece of work in processor time and bytes, estimated before anything is decoded.

/// An estimate of what a piece of work takes on one core of the machine that the cost constants were measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Processor time in nanoseconds.
    pub nanos: u64,
    /// Bytes allocated while the work runs, in addition to its input and output.
    pub scratch: u64,
}

impl Cost {
    /// Returns this cost with `bytes` more allocated while the work runs.
    #[must_use]
    pub fn and_scratch(self, bytes: u64) -> Self {
        Self {
            scratch: self.scratch.saturating_add(bytes),
            ..self
        }
    }
}

/// Processor time in nanoseconds, on one core of the machine that the cost constants were measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Estimated time in nanoseconds, for typical photos.
    pub estimated: u64,
    /// Time in nanoseconds that the hardest images may take: encoders that search for a good way to write an image take
    /// longer where there is none.
    pub most: u64,
}

impl From<Cost> for CpuTime {
    fn from(cost: Cost) -> Self {
        Self {
            estimated: cost.nanos,
            most: cost.nanos,
        }
    }
}

impl std::ops::Add for CpuTime {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            estimated: self.estimated.saturating_add(other.estimated),
            most: self.most.saturating_add(other.most),
        }
    }
}
