//! What a piece of work takes: processor time and bytes, known before anything is decoded.

/// An estimate of what a piece of work takes on one core of the machine the constants were measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Processor time in nanoseconds.
    pub nanos: u64,
    /// Bytes held beside input and output while it runs.
    pub scratch: u64,
}

impl Cost {
    /// This cost with `bytes` more held while it runs.
    #[must_use]
    pub fn and_scratch(self, bytes: u64) -> Self {
        Self {
            scratch: self.scratch.saturating_add(bytes),
            ..self
        }
    }
}

/// Processor time in nanoseconds, on one core of that machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// What is estimated: what photographs take.
    pub estimated: u64,
    /// What the hardest images may take: encoders that search for the best way to write an image take longer where there
    /// is none.
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
