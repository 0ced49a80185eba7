//! What a piece of work takes: processor time and bytes, known before anything is decoded.

/// An estimate of what a piece of work takes on one core of the machine the constants were measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Processor time in nanoseconds.
    pub nanos: u64,
    /// Bytes held beside input and output while it runs.
    pub scratch: u64,
}
