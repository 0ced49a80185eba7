//! Resampling.
